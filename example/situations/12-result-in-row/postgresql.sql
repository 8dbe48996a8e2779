-- The answer is put back into the row that asked.
-- qgen:queue
CREATE TABLE calculations (
    id      bigserial PRIMARY KEY,
    x       int NOT NULL,                         -- qgen:payload
    state   varchar(8) NOT NULL DEFAULT 'asked',  -- qgen:status ready=asked running=taken done=answered failed=failed
    version int NOT NULL DEFAULT 0,               -- qgen:version
    answer  text,                                 -- qgen:result
    problem text                                  -- qgen:error
);
CREATE INDEX calculations_asked ON calculations (id) WHERE state = 'asked';
