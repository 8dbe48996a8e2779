-- A job whose claim has run out fails, and is not run again.
-- qgen:queue builds
CREATE TABLE builds (
    id     bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state  varchar(10) NOT NULL DEFAULT 'pending', -- qgen:status ready=pending running=running done=done failed=failed
    until  datetime(3),                            -- qgen:lease length=5m expired=fail
    reason text                                    -- qgen:error
);
