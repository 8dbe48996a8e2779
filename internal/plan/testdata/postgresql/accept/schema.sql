-- A node renders scenes that fit into its memory, and may have any number of others before them.
-- qgen:queue renders
CREATE TABLE renders (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site      text NOT NULL,                -- qgen:topic
    scene     text NOT NULL,                -- qgen:payload
    memory_mb integer NOT NULL,             -- qgen:payload
    urgency   integer DEFAULT 0 NOT NULL,   -- qgen:priority desc
    state     char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    tries     integer DEFAULT 0 NOT NULL,   -- qgen:attempts up on=claim max=5
    until_at  timestamptz,                  -- qgen:lease length=5m expired=recover
    node      text                          -- qgen:worker
);

-- A key of two parts, a version besides the token, content in another table, and shards.
-- qgen:queue orders
CREATE TABLE orders (
    shop     integer NOT NULL,
    number   bigint NOT NULL,
    stripe   integer NOT NULL, -- qgen:shard mod
    weight   integer NOT NULL,
    revision integer NOT NULL, -- qgen:version
    mark     text, -- qgen:token
    paid     integer DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2
    PRIMARY KEY (shop, number)
);
CREATE TABLE lines (
    shop   integer NOT NULL,
    number bigint NOT NULL,
    label  text,
    PRIMARY KEY (shop, number)
);
