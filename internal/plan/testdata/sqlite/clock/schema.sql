-- Numbers are called at times of the day, in UTC or as the session has it.
-- What {now} and an argument are depends on the column with which they are compared.

-- qgen:queue calls
-- qgen:where "opens <= {time} AND {time} < closes AND day = {today} AND made < {now} - 60"
-- qgen:where "(made < {arg:since time.Time} OR made > {arg:from *time.Time} - 60)"
CREATE TABLE calls (
    id     INTEGER PRIMARY KEY,
    number TEXT NOT NULL,
    state  TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N running=R done=D
    opens  TEXT NOT NULL,             -- qgen:ignore
    closes TEXT NOT NULL,             -- qgen:ignore
    day    TEXT NOT NULL,             -- qgen:ignore
    heard  TEXT,                      -- qgen:finished as=text:'2006-01-02 15:04:05'
    made   INTEGER NOT NULL           -- qgen:enqueued as=epoch
);
