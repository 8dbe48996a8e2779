-- A job whose claim has run out fails, and is not run again.
-- qgen:queue builds
CREATE TABLE builds (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL DEFAULT 'pending', -- qgen:status ready=pending running=running done=done failed=failed
    until  timestamptz,                     -- qgen:lease length=5m expired=fail
    reason text                             -- qgen:error
);

-- A claim adds the row to another table, where the job fails.
-- qgen:queue moved done=delete failed=delete
CREATE TABLE moved (id bigserial PRIMARY KEY, body text);
CREATE TABLE moved_running (
    id    bigint PRIMARY KEY,
    body  text,
    until timestamptz -- qgen:lease length=5m expired=fail
);

-- Recover writes what tells a failed row.
-- qgen:queue noreply
CREATE TABLE noreply (
    id      bigserial PRIMARY KEY,
    state   int NOT NULL DEFAULT 2, -- qgen:status ready=2 running=4 done=5 failed=5; on recover set 5
    outcome int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=0 done=1 failed=3|4; on recover set 4
    until   timestamptz             -- qgen:lease length=5m
);
