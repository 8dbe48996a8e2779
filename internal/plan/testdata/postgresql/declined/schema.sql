-- Whoever keeps the database wants no index more: the primary key is read as it stands.
CREATE TABLE jobs (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    till  timestamptz                  -- qgen:lease length=5m
);
-- This one is there, so that nothing is declined.
CREATE TABLE served (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
CREATE INDEX served_state ON served (state, id);
