-- Numbers are called at times of the day, in UTC or as the session has it.
-- What {now} and an argument are depends on the column with which they are compared.

-- qgen:queue calls
-- qgen:where "opens <= {time} AND {time} < closes AND day = {today} AND (called < {now} OR called IS NULL) AND made < {now} - 60"
-- qgen:where "(called > {arg:since time.Time} OR made > {arg:from *time.Time} - 60)"
CREATE TABLE calls (
    id     bigserial PRIMARY KEY,
    number text NOT NULL,
    state  char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=R done=D
    opens  time NOT NULL,                -- qgen:ignore
    closes time NOT NULL,                -- qgen:ignore
    day    date NOT NULL,                -- qgen:due
    called timestamp NULL,               -- qgen:ignore -- has no role, and no zone
    heard  timestamp NULL,              -- goes to the handler, on the clock of the queue
    made   bigint NOT NULL               -- qgen:enqueued as=epoch
);

-- What is moved to a zone is a time with zone; what is written is the present as the column keeps it.
-- qgen:queue visits
-- qgen:where "seen < {now} AT TIME ZONE 'UTC' AND made < coalesce({now}, 0)"
CREATE TABLE visits (
    id    bigint PRIMARY KEY,
    state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=R done=D
    seen  timestamp,                 -- qgen:due; on claim set "{now} AT TIME ZONE 'UTC'"; on retry set "{now} + interval '1 hour'"
    made  bigint                     -- qgen:enqueued as=epoch_ms; on done set "{now} + 1000"; on release set "extract(epoch FROM {now}) * 1000"
);
