-- Every index ends with the key by which the table is kept, unless it says otherwise the
-- primary one. The topic of the key stands amid the order.
-- qgen:queue partitions
CREATE TABLE dbo.partitions (
    kind     tinyint NOT NULL,              -- qgen:topic
    id       bigint  NOT NULL,
    part     tinyint NOT NULL,              -- qgen:topic
    state    tinyint NOT NULL,              -- qgen:status ready=0 running=1 done=2
    priority tinyint NOT NULL DEFAULT 100,  -- qgen:priority asc
    CONSTRAINT pk_partitions PRIMARY KEY (kind, part, id)
);
CREATE INDEX dequeue ON dbo.partitions (part, state, priority);
GO

-- Of a heap no index has more than its columns.
-- qgen:queue heaps
CREATE TABLE dbo.heaps (
    id    bigint NOT NULL PRIMARY KEY NONCLUSTERED,
    state tinyint NOT NULL -- qgen:status ready=0 running=1 done=2
);
CREATE INDEX heaps_state ON dbo.heaps (state);
GO

-- qgen:queue moments
CREATE TABLE dbo.moments (
    id    bigint NOT NULL PRIMARY KEY,
    at    datetime2 NOT NULL, -- qgen:enqueued; order 1
    state tinyint NOT NULL,   -- qgen:status ready=0 running=1 done=2
    UNIQUE CLUSTERED (at, id)
);
CREATE INDEX moments_state ON dbo.moments (state);
GO

-- Of a unique index the key is no part.
-- qgen:queue uniques
CREATE TABLE dbo.uniques (
    id    bigint NOT NULL PRIMARY KEY,
    state tinyint NOT NULL, -- qgen:status ready=0 running=1 done=2
    code  int NOT NULL      -- qgen:order 1
);
CREATE UNIQUE INDEX uniques_code ON dbo.uniques (state, code);
