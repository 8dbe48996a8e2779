-- A job that is given back goes to the end of the queue.
-- qgen:queue turns
CREATE TABLE turns (
    id       TEXT NOT NULL PRIMARY KEY,
    state    TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D
    queued   INTEGER NOT NULL, -- qgen:order 1; on enqueue,release,retry set now as=epoch_ms
    held_ms  INTEGER -- qgen:lease length=5m as=epoch_ms
);

-- Who waited longest comes first, and waits again from then on.
-- qgen:queue rounds done=delete
CREATE TABLE rounds (
    id       TEXT NOT NULL PRIMARY KEY,
    state    TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A
    place    INTEGER NOT NULL, -- qgen:order 1
    last_ms  INTEGER NOT NULL, -- qgen:order 2; on claim set now as=epoch_ms
    tries    INTEGER DEFAULT 0 NOT NULL -- qgen:attempts up on=claim
);
