-- A count that begins anew with each job that is given back tells no two claims apart.
-- qgen:queue jobs
CREATE TABLE jobs (
    id    bigserial PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    tries int NOT NULL DEFAULT 0 -- qgen:attempts up on=claim max=5; on release set 0
);
