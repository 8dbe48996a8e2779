-- Unix times with a fraction.
-- qgen:queue runs
CREATE TABLE runs (
    id        INTEGER PRIMARY KEY,
    state     TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    due_at    DECIMAL(17, 6), -- qgen:due as=epoch
    held_till DECIMAL(17, 6), -- qgen:lease length=2m as=epoch expired=recover
    made      DOUBLE NOT NULL, -- qgen:enqueued as=epoch
    ended     NUMERIC, -- qgen:finished as=epoch_ms
    body      TEXT -- qgen:payload
);
