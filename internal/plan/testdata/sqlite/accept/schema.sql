-- A node renders scenes that fit into its memory, and may have any number of others before them.
-- qgen:queue renders
CREATE TABLE renders (
    id        INTEGER PRIMARY KEY,
    site      TEXT NOT NULL,              -- qgen:topic
    scene     TEXT NOT NULL,              -- qgen:payload
    memory_mb INTEGER NOT NULL,           -- qgen:payload
    urgency   INTEGER DEFAULT 0 NOT NULL, -- qgen:priority desc
    state     TEXT DEFAULT 'N' NOT NULL,  -- qgen:status ready=N running=A done=D failed=E
    tries     INTEGER DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=5
    until_at  TEXT,                       -- qgen:lease length=5m expired=recover as=text:2006-01-02T15:04:05.000Z
    node      TEXT                        -- qgen:worker
);

-- A key of two parts, a version besides the token, content in another table, and shards.
-- qgen:queue orders
CREATE TABLE orders (
    shop     INTEGER NOT NULL,
    number   INTEGER NOT NULL,
    stripe   INTEGER NOT NULL, -- qgen:shard mod
    weight   INTEGER NOT NULL,
    revision INTEGER NOT NULL, -- qgen:version
    mark     TEXT, -- qgen:token
    paid     INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2
    PRIMARY KEY (shop, number)
);
CREATE TABLE lines (
    shop   INTEGER NOT NULL,
    number INTEGER NOT NULL,
    label  TEXT,
    PRIMARY KEY (shop, number)
);
