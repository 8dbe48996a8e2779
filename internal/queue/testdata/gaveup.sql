-- Only the error tells a failed row. What is not said for giveup is said by the text that
-- tells why a job failed that nobody has any more.
-- qgen:queue events done=delete
CREATE TABLE events (
    id     bigserial PRIMARY KEY,
    reason bytea, -- qgen:status ready=null failed~set; error
    body   text NOT NULL
);

-- The user says it.
-- qgen:queue told done=delete
CREATE TABLE told (
    id     bigserial PRIMARY KEY,
    reason varchar(40), -- qgen:status ready=null failed~set; error; on giveup set 'timeout'
    body   text NOT NULL
);

-- The column holds ten characters, and another one takes what Fail is told.
-- qgen:queue brief
CREATE TABLE brief (
    id      bigserial PRIMARY KEY,
    state   char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N done=C failed=E
    reason  varchar(10), -- qgen:error
    told_at timestamptz -- qgen:on fail set now
);

-- Failed rows go away.
-- qgen:queue gone done=delete failed=delete
CREATE TABLE gone (
    id   bigserial PRIMARY KEY,
    body text NOT NULL
);

-- What tells a failed row is not written while a job is tried again.
-- qgen:queue marked done=delete
CREATE TABLE marked (
    id       bigserial PRIMARY KEY,
    reason   text,        -- qgen:status ready=null failed~set; error
    mark     uuid,        -- qgen:token
    ends_at  timestamptz, -- qgen:lease length=5m expired=recover
    attempts int NOT NULL DEFAULT 0 -- qgen:attempts max=5
);

-- The status has said it, and Fail alone is told something else.
-- qgen:queue dead done=delete
CREATE TABLE dead (
    id       bigserial PRIMARY KEY,
    reason   text,        -- qgen:status ready=null failed:=lost failed~set; error; on fail set arg:why
    mark     uuid,        -- qgen:token
    ends_at  timestamptz, -- qgen:lease length=5m expired=recover
    attempts int NOT NULL DEFAULT 0 -- qgen:attempts max=5
);

-- A list gets the text as one element more.
-- qgen:queue listed
CREATE TABLE listed (
    id       bigserial PRIMARY KEY,
    state    text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=C failed=E
    errors   jsonb[],     -- qgen:error append
    ends_at  timestamptz, -- qgen:lease length=5m
    attempts int NOT NULL DEFAULT 0, -- qgen:attempts max=5
    code     int -- qgen:on fail set arg:code
);
