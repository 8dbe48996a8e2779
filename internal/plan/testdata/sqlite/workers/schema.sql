-- Who a worker is depends on the column.
-- qgen:queue known done=delete
CREATE TABLE known (
    id       integer PRIMARY KEY,
    state    text NOT NULL DEFAULT 'r', -- qgen:status ready=r running=x
    consumer uuid, -- qgen:worker
    tries    int NOT NULL DEFAULT 0 -- qgen:attempts up on=claim max=3
);

-- qgen:queue counted done=delete
CREATE TABLE counted (
    id       integer PRIMARY KEY,
    state    text NOT NULL DEFAULT 'r', -- qgen:status ready=r running=x
    consumer numeric, -- qgen:worker
    tries    int NOT NULL DEFAULT 0 -- qgen:attempts up on=claim max=3
);

-- The side table of a log has room for 190 characters.
-- qgen:queue events
CREATE TABLE events (
    id   integer PRIMARY KEY AUTOINCREMENT, -- qgen:seq
    body text NOT NULL
);
