-- What a claim wrote, and a step leaves, keeps a job from being ready.
-- qgen:queue mails done=delete
CREATE TABLE mails (
    id    bigserial PRIMARY KEY,
    owner text,        -- qgen:worker; on retry,recover set old
    since timestamptz, -- qgen:claimed timeout=1h expired=recover
    error text         -- qgen:error
);

-- Here the claim runs out by itself.
-- qgen:queue tasks done=delete
CREATE TABLE tasks (
    id    bigserial PRIMARY KEY,
    since timestamptz, -- qgen:claimed timeout=1h expired=claim; on retry set old
    error text         -- qgen:error
);

-- Here a condition of one's own says whether it has.
-- qgen:queue calls done=delete
CREATE TABLE calls (
    id   bigserial PRIMARY KEY,
    till timestamptz, -- qgen:lease length=5m expired=claim; status ready~"till is null or till <= {now}" ready:=null running~"till > {now}"; on retry set old
    error text -- qgen:error
);

-- What a claim leaves as it is, or gets from its caller, is a fence of another kind.
-- qgen:queue kept
CREATE TABLE kept (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    since timestamptz,                 -- qgen:claimed timeout=5m; on claim set old
    owner text,                        -- qgen:worker; on claim set old
    v     int NOT NULL DEFAULT 0       -- qgen:version; on claim set old
);

-- qgen:queue told
CREATE TABLE told (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    owner text                         -- qgen:worker; on claim set arg:owner
);
