-- qgen:queue jobs redrive=none
CREATE TABLE jobs (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new',  -- qgen:status ready=new running=busy done=done failed=dead
    tries int NOT NULL DEFAULT 0        -- qgen:attempts up on=claim max=5
);

-- A job of a cycle that failed stays failed, and Purge leaves it.
-- qgen:queue pulses cycle=15m redrive=none
CREATE TABLE pulses (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new',  -- qgen:status ready=new running=busy failed=dead
    at    timestamptz NOT NULL,         -- qgen:due
    tries int NOT NULL DEFAULT 0        -- qgen:attempts up on=retry max=5
);
