-- qgen:queue jobs
CREATE TABLE jobs (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL,  -- qgen:status ready=new running=busy done=done failed=failed
    kind   text NOT NULL,  -- qgen:group fifo
    told   timestamptz,    -- qgen:due add=5m null=never; claimed timeout=10m; on retry set now; on release set arg:at
    mark   varchar(13),    -- qgen:token
    holder text            -- qgen:worker mine=ready
);
-- qgen:queue clashes
CREATE TABLE clashes (
    id    bigserial PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=new running=busy done=done failed=failed
    told  timestamptz    -- qgen:due add=5m null=never; claimed timeout=10m
);
