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
