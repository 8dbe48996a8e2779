-- Callers say a part of what steps write.
CREATE TABLE mails (
    id     bigint IDENTITY PRIMARY KEY,
    state  int DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2 failed=3
    run_at datetimeoffset, -- qgen:due; on enqueue set now+arg:delay; on retry set "DATEADD(minute, {arg:minutes int}, {now})"
    till   datetimeoffset, -- qgen:lease length=5m expired=recover; on renew set now+15m
    tries  int DEFAULT 0 NOT NULL, -- qgen:on claim,done set "tries + {arg:cost int}"; on retry set "tries + {arg:minutes}"
    note   nvarchar(200) DEFAULT 'none' NOT NULL, -- qgen:on done set "note + {arg:more string}"
    fails  int DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=3
    step   int DEFAULT 1 NOT NULL -- qgen:on enqueue set "{arg:first int64} * {arg:first}"; on redrive set "step + {arg:first}"
);

-- The time of the next run is kept as text, and each job says how long it rests.
CREATE TABLE rounds (
    id      bigint IDENTITY PRIMARY KEY,
    state   int DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2
    rest_at nvarchar(30), -- qgen:on done set now+arg:rest as='text:2006-01-02 15:04:05' clock=utc
    rest_to bigint, -- qgen:on done set now+arg:rest as=epoch_ms
    seen    datetimeoffset, -- qgen:on done set "CASE WHEN seen < {arg:at time.Time} THEN seen ELSE {arg:at} END"
    said    int -- qgen:on done set arg:said; on claim set "coalesce({arg:said}, 0) + 1"
);

-- Rows that an administrator names: the condition and the write take one argument.
CREATE TABLE calls (
    id     bigint IDENTITY PRIMARY KEY, -- qgen:topic
    state  int DEFAULT 0 NOT NULL, -- qgen:status ready=0 done:=0
    run_at datetimeoffset, -- qgen:on done set now+arg:delay
    weight int DEFAULT 0 NOT NULL -- qgen:on done set "weight + {arg:most int}"
);

-- What a new job says goes to two columns, and to the row that it meets.
-- qgen:queue pushes enqueue=update
CREATE TABLE pushes (
    name   nvarchar(40) NOT NULL PRIMARY KEY,
    state  int DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1
    run_at datetimeoffset, -- qgen:due; on enqueue set "DATEADD(second, {arg:pause}, {now})"; on update set "{new}.run_at"
    pause  int NOT NULL, -- qgen:on enqueue set arg:pause; on update set "{new}.pause"; payload
    last   datetimeoffset -- qgen:on enqueue set now+arg:delay; on update set "{new}.last"
);
