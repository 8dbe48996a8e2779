-- The state is a number: 0 new, 1 taken, 2 done, 3 failed.
-- qgen:queue
CREATE TABLE work (
    id         INTEGER PRIMARY KEY,
    data       TEXT NOT NULL,                 -- qgen:payload
    state      INTEGER NOT NULL DEFAULT 0,    -- qgen:status ready=0 running=1 done=2 failed=3
    tries      INTEGER NOT NULL DEFAULT 0,    -- qgen:attempts up on=claim max=2
    taken_till INTEGER                        -- qgen:lease length=1m as=epoch_ms
);
