-- Of several indexes that begin with the state Recover takes the one with the time, and what is said of it agrees.
-- qgen:queue jobs purge=none
CREATE TABLE jobs (
    id      bigint AUTO_INCREMENT PRIMARY KEY,
    status  varchar(20) NOT NULL, -- qgen:status ready=pending running=processing done=completed failed=failed
    run_at  bigint,               -- qgen:due as=epoch
    expires bigint,               -- qgen:lease length=5m as=epoch expired=recover
    tries   int NOT NULL DEFAULT 0, -- qgen:attempts up on=claim max=5
    token   varchar(40)           -- qgen:token
);
CREATE INDEX jobs_status_run ON jobs (status, run_at);
CREATE INDEX jobs_status_expires ON jobs (status, expires);
