-- qgen:queue recalls
CREATE TABLE tape_recall (
    task_id   bigint IDENTITY PRIMARY KEY,
    grp       bigint NOT NULL,
    [file] nvarchar(200) NOT NULL,
    status    int NOT NULL DEFAULT 1, -- qgen:status ready=1 running=2 done=0 failed=3
    since     datetime2(6), -- qgen:claimed timeout=1h
    tries     int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=5
    due       datetime2(6) NOT NULL DEFAULT SYSUTCDATETIME(), -- qgen:due; order 1
    weight    int NOT NULL DEFAULT 0,
    why nvarchar(200) -- qgen:error
);
CREATE INDEX tape_recall_group ON tape_recall (grp);

-- Rows with a key of two columns, which wait for another of their site.
-- qgen:queue waits done=delete
CREATE TABLE waits (
    site     nvarchar(100) NOT NULL,
    no       int NOT NULL,
    after    int,
    state    nvarchar(100) DEFAULT 'waiting' NOT NULL, -- qgen:status ready=new running=busy failed=failed
    tries    int DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=3
    token    uniqueidentifier, -- qgen:token
    PRIMARY KEY (site, no)
);
