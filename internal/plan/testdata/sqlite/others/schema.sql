-- qgen:queue recalls
CREATE TABLE tape_recall (
    task_id   integer PRIMARY KEY,
    grp       bigint NOT NULL,
    file      text NOT NULL,
    status    int NOT NULL DEFAULT 1, -- qgen:status ready=1 running=2 done=0 failed=3
    since     integer, -- qgen:claimed timeout=1h as=epoch
    tries     int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=5
    due       integer NOT NULL DEFAULT 0, -- qgen:due as=epoch; order 1
    weight    int NOT NULL DEFAULT 0,
    why       text -- qgen:error
);
CREATE INDEX tape_recall_group ON tape_recall (grp);

-- Rows with a key of two columns, which wait for another of their site.
-- qgen:queue waits done=delete
CREATE TABLE waits (
    site     text NOT NULL,
    no       int NOT NULL,
    after    int,
    state    text DEFAULT 'waiting' NOT NULL, -- qgen:status ready=new running=busy failed=failed
    tries    int DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=3
    token    text, -- qgen:token
    PRIMARY KEY (site, no)
);
