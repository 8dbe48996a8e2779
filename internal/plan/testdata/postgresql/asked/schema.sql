-- Callers say a part of what steps write.
CREATE TABLE mails (
    id     bigserial PRIMARY KEY,
    state  integer DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2 failed=3
    run_at timestamptz, -- qgen:due; on enqueue set now+arg:delay; on retry set "{now} + make_interval(mins => {arg:minutes int})"
    till   timestamptz, -- qgen:lease length=5m expired=recover; on renew set now+15m
    tries  integer DEFAULT 0 NOT NULL, -- qgen:on claim,done set "tries + {arg:cost int}"; on retry set "tries + {arg:minutes}"
    note   text DEFAULT 'none' NOT NULL, -- qgen:on done set "note || {arg:more string}"
    fails  integer DEFAULT 0 NOT NULL, -- qgen:attempts up on=retry max=3
    step   integer DEFAULT 1 NOT NULL -- qgen:on enqueue set "{arg:first int64} * {arg:first}"; on redrive set "step + {arg:first}"
);

-- The time of the next run is kept as text, and each job says how long it rests.
CREATE TABLE rounds (
    id      bigserial PRIMARY KEY,
    state   integer DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2
    rest_at text, -- qgen:on done set now+arg:rest as='text:2006-01-02 15:04:05' clock=utc
    rest_to bigint, -- qgen:on done set now+arg:rest as=epoch_ms
    seen    timestamptz, -- qgen:on done set "CASE WHEN seen < {arg:at time.Time} THEN seen ELSE {arg:at} END"
    said    integer -- qgen:on done set arg:said; on claim set "coalesce({arg:said}, 0) + 1"
);

-- Rows that an administrator names: the condition and the write take one argument.
CREATE TABLE calls (
    id     bigserial PRIMARY KEY, -- qgen:topic
    state  integer DEFAULT 0 NOT NULL, -- qgen:status ready=0 done:=0
    run_at timestamptz, -- qgen:on done set now+arg:delay
    weight integer DEFAULT 0 NOT NULL -- qgen:on done set "weight + {arg:most int}"
);

-- What a new job says goes to two columns, and to the row that it meets.
-- qgen:queue pushes enqueue=update
CREATE TABLE pushes (
    name   text NOT NULL PRIMARY KEY,
    state  integer DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1
    run_at timestamptz, -- qgen:due; on enqueue set "{now} + make_interval(secs => {arg:pause})"; on update set "{new}.run_at"
    pause  integer NOT NULL, -- qgen:on enqueue set arg:pause; on update set "{new}.pause"; payload
    last   timestamptz -- qgen:on enqueue set now+arg:delay; on update set "{new}.last"
);
