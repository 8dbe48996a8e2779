-- An index in the order of the time serves where jobs that are done leave the table: it holds the
-- states of the others, which are passed over in it. The key would have the server sort, and lock, all ready rows.
-- qgen:queue studies
CREATE TABLE dbo.studies (
    guid   uniqueidentifier NOT NULL DEFAULT NEWID(),
    due_at datetime NOT NULL,       -- qgen:due; order 1
    state  smallint NOT NULL,       -- qgen:status ready=200|100 running=201 failed=203
    kind   smallint NOT NULL,
    worker varchar(128) NULL,       -- qgen:worker
    tries  int NOT NULL DEFAULT 0,  -- qgen:attempts max=3
    CONSTRAINT pk_studies PRIMARY KEY CLUSTERED (guid)
);
CREATE INDEX studies_due ON dbo.studies (due_at, state, kind);
GO
-- Rows that are null in a column have one value there: behind it an index gives their order.
-- qgen:queue checks
CREATE TABLE dbo.checks (
    id    bigint NOT NULL IDENTITY PRIMARY KEY,
    added datetime2 NULL,     -- qgen:status ready=null done=now; payload
    over  bit NOT NULL        -- qgen:status ready=0
);
CREATE INDEX checks_added ON dbo.checks (added, over);
GO
-- One value means ready: an index without a predicate serves as well, and no session is kept
-- from writing the table by its settings. One with a predicate that is there serves, too.
-- qgen:queue mails
CREATE TABLE dbo.mails (
    id    bigint NOT NULL IDENTITY PRIMARY KEY,
    state char(1) NOT NULL DEFAULT 'N',  -- qgen:status ready=N running=A done=C failed=E
    till  datetime2 NULL                 -- qgen:lease length=5m
);
GO
-- qgen:queue prints
CREATE TABLE dbo.prints (
    id    bigint NOT NULL IDENTITY PRIMARY KEY,
    rank  int NOT NULL,                  -- qgen:priority asc
    state char(1) NOT NULL DEFAULT 'N',  -- qgen:status ready=N running=A done=C failed=E
    till  datetime2 NULL                 -- qgen:lease length=5m
);
CREATE INDEX prints_ready ON dbo.prints (rank, id) WHERE state = 'N';
CREATE INDEX prints_till ON dbo.prints (till) WHERE state = 'A';
GO
-- Several values mean ready, and finished rows stay: no other index leaves these out in the
-- order of the queue.
-- qgen:queue jobs
CREATE TABLE dbo.jobs (
    id    bigint NOT NULL IDENTITY PRIMARY KEY,
    state varchar(10) NOT NULL -- qgen:status ready=queued|retrying running=running done=done
);
GO
-- Null and a value mean ready, which no predicate of an index tells: the index begins with the status, which leads
-- to the rows that run as well.
-- qgen:queue acts
CREATE TABLE dbo.acts (
    host    varchar(32) NOT NULL,          -- qgen:topic
    id      bigint NOT NULL IDENTITY,
    added   datetime2 NOT NULL,            -- qgen:enqueued; order 1
    state   varchar(50) NULL,              -- qgen:status ready=null|RETRYING running=PROCESSING done=OK failed=ERROR; on retry,recover set RETRYING
    began   datetime2 NULL,                -- qgen:claimed timeout=30m expired=recover
    ended   datetime2 NULL,                -- qgen:due add=5m; finished also_failed
    gone    bit NOT NULL DEFAULT 0,        -- qgen:status ready=0
    CONSTRAINT pk_acts PRIMARY KEY CLUSTERED (host, id)
);
-- SQL tells ready rows, and rows that are done stay: the index is in the order of the queue, since rows
-- that are sorted are all locked, and has the status, so that the others are passed over in it.
-- qgen:queue deliveries
CREATE TABLE deliveries (
    client  varchar(40) NOT NULL,                    -- qgen:topic
    file_id int NOT NULL,                            -- qgen:order 2
    status  int NOT NULL DEFAULT -2,                 -- qgen:status ready~"status = -2 or status > 0" ready:=-2 running=-1 done=0
    arrived datetime2(3) NOT NULL,                   -- qgen:order 1
    CONSTRAINT deliveries_pk PRIMARY KEY (client, file_id)
);
GO
