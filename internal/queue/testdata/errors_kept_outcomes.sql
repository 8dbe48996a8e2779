-- What old leaves nothing to write of has no operation.
-- qgen:queue jobs
CREATE TABLE jobs (
    id       bigserial PRIMARY KEY,
    taken_at timestamptz, -- qgen:status ready=null running=now
    ended_at timestamptz  -- qgen:status ready=null running~null done=now
);
