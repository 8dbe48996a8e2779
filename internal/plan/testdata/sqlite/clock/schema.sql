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

-- A function of dates is given its own text for the present; what is written to a column is
-- the present as that keeps it.
-- qgen:queue visits
-- qgen:where "made < strftime('%s', {now}, '-60 seconds') AND day = date({now}) AND datetime({now} - 60, 'unixepoch') > day"
-- qgen:where "julianday({now}) - julianday(day) < 1 AND due < coalesce({now}, 0)"
CREATE TABLE visits (
    id    INTEGER PRIMARY KEY,
    state TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N running=R done=D
    day   TEXT NOT NULL,             -- qgen:ignore
    due   INTEGER,                   -- qgen:due as=epoch_ms; on retry set "coalesce(due, {now} + 1000)"
    heard TEXT,                      -- qgen:finished as=text:'2006-01-02 15:04:05'; on claim set "datetime({now}, '+1 day')"
    made  INTEGER NOT NULL           -- qgen:enqueued as=epoch; on release set "strftime('%s', {now})"
);
