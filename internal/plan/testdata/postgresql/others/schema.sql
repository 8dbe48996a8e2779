-- qgen:queue recalls
CREATE TABLE tape_recall (
    task_id   bigserial PRIMARY KEY,
    grp       bigint NOT NULL,
    file      text NOT NULL,
    status    int NOT NULL DEFAULT 1, -- qgen:status ready=1 running=2 done=0 failed=3
    since     timestamptz, -- qgen:claimed timeout=1h
    tries     int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=5
    due       timestamptz NOT NULL DEFAULT now(), -- qgen:due; order 1
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
    state    text NOT NULL DEFAULT 'waiting', -- qgen:status ready=new running=busy failed=failed
    tries    int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=3
    token    uuid, -- qgen:token
    PRIMARY KEY (site, no)
);
