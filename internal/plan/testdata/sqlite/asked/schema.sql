-- Callers say a part of what steps write.
CREATE TABLE mails (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    state  INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2 failed=3
    run_at INTEGER, -- qgen:due as=epoch; on enqueue set now+arg:delay; on retry set "{now} + 60 * {arg:minutes int}"
    till   INTEGER, -- qgen:lease as=epoch_ms length=5m expired=recover; on renew set now+15m
    tries  INTEGER DEFAULT 0 NOT NULL, -- qgen:on claim,done set "tries + {arg:cost int}"; on retry set "tries + {arg:minutes}"
    note   TEXT DEFAULT 'none' NOT NULL, -- qgen:on done set "note || {arg:more string}"
    fails  INTEGER DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=3
    step   INTEGER DEFAULT 1 NOT NULL -- qgen:on enqueue set "{arg:first int64} * {arg:first}"; on redrive set "step + {arg:first}"
);

-- The time of the next run is kept as text, and each job says how long it rests.
CREATE TABLE rounds (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    state   INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2
    rest_at TEXT, -- qgen:on done set now+arg:rest as='text:2006-01-02 15:04:05' clock=utc
    rest_to INTEGER, -- qgen:on done set now+arg:rest as=epoch_ms
    seen    INTEGER, -- qgen:on done set "CASE WHEN seen < {arg:at time.Time} THEN seen ELSE {arg:at} END"
    said    INTEGER -- qgen:on done set arg:said; on claim set "coalesce({arg:said}, 0) + 1"
);

-- Rows that an administrator names: the condition and the write take one argument.
CREATE TABLE calls (
    id     INTEGER PRIMARY KEY AUTOINCREMENT, -- qgen:topic
    state  INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 done:=0
    run_at INTEGER, -- qgen:on done set now+arg:delay as=epoch
    weight INTEGER DEFAULT 0 NOT NULL -- qgen:on done set "weight + {arg:most int}"
);

-- What a new job says goes to two columns, and to the row that it meets.
-- qgen:queue pushes enqueue=update
CREATE TABLE pushes (
    name   TEXT NOT NULL PRIMARY KEY,
    state  INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1
    run_at INTEGER, -- qgen:due as=epoch; on enqueue set "{now} + {arg:pause}"; on update set "{new}.run_at"
    pause  INTEGER NOT NULL, -- qgen:on enqueue set arg:pause; on update set "{new}.pause"; payload
    last   INTEGER -- qgen:on enqueue set now+arg:delay as=epoch; on update set "{new}.last"
);

-- What is written as the time of the claim and of the end is no time from which Stats could measure.
CREATE TABLE ends (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2
    made  INTEGER NOT NULL, -- qgen:enqueued as=epoch
    since INTEGER, -- qgen:claimed as=epoch; on claim set now+1m
    ended INTEGER -- qgen:finished as=epoch; on done set now+arg:rest
);

-- A state that only grows: what is written is what the condition compares.
CREATE TABLE levels (
    id    INTEGER PRIMARY KEY AUTOINCREMENT, -- qgen:topic
    level SMALLINT NOT NULL DEFAULT 0        -- qgen:on done set arg:level
);
