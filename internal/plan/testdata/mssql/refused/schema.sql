-- Most rows that nobody has are refused by a condition: a database is backed up again when its last backup is
-- old enough. What the condition reads stands beside the keys of the index, so that no refused row is looked up.
CREATE TABLE dbo.backups (
    id              int IDENTITY(1, 1) PRIMARY KEY CLUSTERED,
    database_name   nvarchar(256) NOT NULL, -- qgen:payload
    started_at      datetime2(3) NOT NULL DEFAULT '1900-01-01', -- qgen:claimed timeout=10m; order 1; on retry,release,recover set '1900-01-01 00:00:00'
    is_started      bit NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done:=0
    is_completed    bit NOT NULL DEFAULT 0, -- qgen:on claim set 0; on done,retry,release,recover set 1
    error_number    int NULL, -- qgen:ignore
    ignored         bit NOT NULL DEFAULT 0, -- qgen:ignore
    note            nvarchar(max) NULL -- qgen:ignore
);

-- The index of the table has what the condition reads.
CREATE TABLE dbo.restores (
    id              int IDENTITY(1, 1) PRIMARY KEY CLUSTERED,
    started_at      datetime2(3) NULL, -- qgen:claimed timeout=10m
    state           tinyint NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2
    ignored         bit NOT NULL DEFAULT 0, -- qgen:ignore
    wanted          int NOT NULL -- qgen:order 1
);
CREATE INDEX restores_next ON dbo.restores (state, wanted, id) INCLUDE (ignored);

-- The index of the table lacks it.
CREATE TABLE dbo.copies (
    id              int IDENTITY(1, 1) PRIMARY KEY CLUSTERED,
    started_at      datetime2(3) NULL, -- qgen:claimed timeout=10m
    state           tinyint NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2
    ignored         bit NOT NULL DEFAULT 0, -- qgen:ignore
    wanted          int NOT NULL -- qgen:order 1
);
CREATE INDEX copies_next ON dbo.copies (state, wanted, id);

-- Two queues over it claim by one index: it has what the conditions of either read.
CREATE TABLE dbo.tasks (
    id              int IDENTITY(1, 1) PRIMARY KEY CLUSTERED,
    kind            int NOT NULL, -- qgen:ignore
    sent_at         datetime2(3) NOT NULL, -- qgen:ignore
    state           tinyint NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2
    rank            int NOT NULL -- qgen:priority desc
);
