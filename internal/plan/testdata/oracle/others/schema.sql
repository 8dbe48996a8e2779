-- qgen:queue recalls
CREATE TABLE tape_recall (
    task_id   number(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    grp       number(18) NOT NULL,
    fname      varchar2(200) NOT NULL,
    status    number(9) DEFAULT 1 NOT NULL, -- qgen:status ready=1 running=2 done=0 failed=3
    since     timestamp with time zone, -- qgen:claimed timeout=1h
    tries     number(9) DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=5
    due       timestamp with time zone DEFAULT systimestamp NOT NULL, -- qgen:due; order 1
    weight    number(9) DEFAULT 0 NOT NULL,
    why       varchar2(200) -- qgen:error
);
CREATE INDEX tape_recall_group ON tape_recall (grp);

-- Rows with a key of two columns, which wait for another of their site.
-- qgen:queue waits done=delete
CREATE TABLE waits (
    site     varchar2(100) NOT NULL,
    no       int NOT NULL,
    after    int,
    state    varchar2(100) DEFAULT 'waiting' NOT NULL, -- qgen:status ready=new running=busy failed=failed
    tries    int DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=3
    token    raw(16), -- qgen:token
    PRIMARY KEY (site, no)
);
