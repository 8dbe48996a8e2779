-- Numbers are called at times of the day, in UTC or as the session has it.
-- What {now} and an argument are depends on the column with which they are compared.

-- qgen:queue calls
-- qgen:where "opens <= {time} AND {time} < closes AND day = {today} AND (called < {now} OR called IS NULL) AND made < {now} - 60"
-- qgen:where "(called > {arg:since time.Time} OR made > {arg:from *time.Time} - 60)"
CREATE TABLE calls (
    id     bigint IDENTITY PRIMARY KEY,
    number varchar(40) NOT NULL,
    state  char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=R done=D
    opens  time(0) NOT NULL,             -- qgen:ignore
    closes time(0) NOT NULL,             -- qgen:ignore
    day    date NOT NULL,                -- qgen:due
    called datetime2 NULL,               -- qgen:ignore -- has no role, and no zone
    heard  datetime2(3) NULL,            -- goes to the handler, on the clock of the queue
    made   bigint NOT NULL               -- qgen:enqueued as=epoch
);
