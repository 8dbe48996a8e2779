-- A job that fails is as due as it was: nothing keeps the next claim from it.
-- qgen:queue jobs
CREATE TABLE jobs (
    id      bigserial PRIMARY KEY,
    state   text NOT NULL, -- qgen:status ready=new running=busy done=done
    pushed  timestamptz NOT NULL, -- qgen:due add=5m; on retry set old
    changed timestamptz -- qgen:on claim,retry set now
);
