-- A job that is given back goes to the end of the queue.
-- qgen:queue turns
CREATE TABLE turns (
    id       varchar(36) NOT NULL PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D
    queued   bigint NOT NULL, -- qgen:order 1; on enqueue,release,retry set now as=epoch_ms
    held_ms  bigint -- qgen:lease length=5m as=epoch_ms
);

-- Who waited longest comes first, and waits again from then on.
-- qgen:queue rounds done=delete
CREATE TABLE rounds (
    id       varchar(36) NOT NULL PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A
    place    bigint NOT NULL, -- qgen:order 1
    last_ms  bigint NOT NULL, -- qgen:order 2; on claim set now as=epoch_ms
    tries    bigint DEFAULT 0 NOT NULL -- qgen:attempts up on=claim
);
