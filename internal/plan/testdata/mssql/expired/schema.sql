-- A job whose claim has run out fails, and is not run again.
-- qgen:queue builds
CREATE TABLE builds (
    id     bigint IDENTITY PRIMARY KEY,
    state  varchar(10) NOT NULL DEFAULT 'pending', -- qgen:status ready=pending running=running done=done failed=failed
    until  datetime2(3),                           -- qgen:lease length=5m expired=fail
    reason nvarchar(400)                           -- qgen:error
);
