-- What waits is not counted by a box, which is compared by its size and grouped by nothing, nor by a key that a claim
-- may say. The index has the topics first, and the state behind them.
-- qgen:queue
CREATE TABLE areas (
    id    bigint PRIMARY KEY,           -- qgen:topic optional
    area  box NOT NULL,                 -- qgen:topic
    state text NOT NULL,                -- qgen:status ready=new running=busy done=over
    kind  text NOT NULL,                -- qgen:topic list
    made  timestamptz NOT NULL,         -- qgen:enqueued
    body  text NOT NULL                 -- qgen:payload
);
CREATE INDEX areas_kind ON areas (kind, state, id);

-- The topics are those of a key, of which all but the last column is counted by. No two rows that wait are alike in
-- target and kind.
-- qgen:queue
CREATE TABLE steps (
    tenant int NOT NULL,                -- qgen:topic
    no     int NOT NULL,                -- qgen:topic optional
    kind   text,                        -- qgen:topic optional
    target text NOT NULL,               -- qgen:topic not optional
    ready  timestamptz NOT NULL,        -- qgen:due; order
    state  text NOT NULL,               -- qgen:status ready=new running=busy done=over
    PRIMARY KEY (tenant, no)
);
CREATE UNIQUE INDEX steps_once ON steps (kind, target) WHERE state = 'new';

-- A claim is of the rows that its caller lists, so nobody asks how many wait.
-- qgen:queue
CREATE TABLE rerun (
    id    bigint PRIMARY KEY,           -- qgen:topic list
    state text NOT NULL                 -- qgen:status ready=new running=busy done=over
);
