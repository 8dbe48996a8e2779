-- A default that is the session's present: the clock of the queue says what a new job has.
-- qgen:queue waits
CREATE TABLE waits (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    state  varchar(10) NOT NULL,                         -- qgen:status ready=new running=busy done=done failed=failed
    run_at datetime NOT NULL DEFAULT CURRENT_TIMESTAMP   -- qgen:due
);
