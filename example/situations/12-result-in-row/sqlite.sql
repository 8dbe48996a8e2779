-- The answer is put back into the row that asked.
-- qgen:queue
CREATE TABLE calculations (
    id      INTEGER PRIMARY KEY,
    x       INTEGER NOT NULL,                         -- qgen:payload
    state   TEXT NOT NULL DEFAULT 'asked',  -- qgen:status ready=asked running=taken done=answered failed=failed
    version INTEGER NOT NULL DEFAULT 0,               -- qgen:version
    answer  TEXT,                                 -- qgen:result
    problem TEXT                                  -- qgen:error
);
CREATE INDEX calculations_asked ON calculations (id) WHERE state = 'asked';
