-- What each job says for itself travels with those of others.
CREATE TABLE jobs (
    id    bigserial PRIMARY KEY,
    state int DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2
    tags  text[], -- qgen:on done set "tags || {arg:tags []string}"; on retry set "{arg:again []string}"
    seen  text, -- qgen:on done set "lower({arg:at time.Time})"; on enqueue set "upper({arg:what any})"
    first timestamptz, -- qgen:on release set "greatest(first, {arg:both time.Time})"
    last  text -- qgen:on release set "case when last < {arg:both} then last end"; on retry set now+arg:later as='text:2006-01-02 15:04:05' clock=utc
);

-- Nobody gives Work what Fail would write.
CREATE TABLE works (
    id    bigserial PRIMARY KEY,
    state int DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2
    at    timestamptz, -- qgen:due; on retry set now+arg:delay
    tries int DEFAULT 0 NOT NULL -- qgen:on release set "tries + {arg:n int}"
);

-- A claim in a side table takes none.
CREATE TABLE sides (
    id    bigserial PRIMARY KEY,
    note  text -- qgen:on retry set "note || {arg:more string}"
);

-- The present is no number where nobody says what a number counts.
CREATE TABLE beats (
    id    bigserial PRIMARY KEY,
    state int DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2
    beat  bigint,                 -- qgen:on claim set "{now} + 60"
    host  bigint NOT NULL
);
CREATE TABLE hosts (id bigint PRIMARY KEY, seen bigint NOT NULL, told numeric);

-- One name is one argument, of one type.
CREATE TABLE levels (
    id    bigint PRIMARY KEY, -- qgen:topic
    level smallint NOT NULL,  -- qgen:on done set arg:level
    until timestamptz         -- qgen:on done set arg:until
);
