-- How long a failed job waits is kept beside it, as are its tries, which an entry counts: the wait is that of the
-- tries before.
-- qgen:queue
CREATE TABLE waits (
    id     bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state  varchar(9) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D
    run_at bigint NOT NULL DEFAULT 0 -- qgen:due as=epoch
);
CREATE TABLE specs (
    wait_id bigint NOT NULL PRIMARY KEY,
    tries   bigint NOT NULL,
    most    varchar(9) NOT NULL DEFAULT 'N',
    pause   bigint NOT NULL
);
