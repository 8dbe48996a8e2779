-- What a step is told to write here leaves a row that is not what it makes of it.

-- qgen:queue emptied
CREATE TABLE emptied (
    id     bigint PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new',  -- qgen:status ready=new running=busy done=done; on renew set new
    begun  timestamptz,                  -- qgen:claimed timeout=5m
    body   text                          -- qgen:payload
);

-- qgen:queue given
CREATE TABLE given (
    id     bigint PRIMARY KEY,
    leased timestamptz,                  -- qgen:lease length=5m; status ready=null done~set; on release set now
    state  text NOT NULL DEFAULT 'new',  -- qgen:status ready=new running=busy done=done failed=failed
    agent  text,                         -- qgen:worker; status done=null; on done set worker
    body   text                          -- qgen:payload
);

-- qgen:queue hidden done=delete failed=delete
CREATE TABLE hidden (
    id     bigint PRIMARY KEY,
    until  timestamptz NOT NULL DEFAULT now(), -- qgen:visible length=5m; on claim set now
    body   text                          -- qgen:payload
);

-- qgen:queue two
CREATE TABLE two (
    id     bigint PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new',  -- qgen:status ready=new claimed=taken running=busy done=done failed=failed; on start set taken; on claim set busy
    body   text                          -- qgen:payload
);

-- qgen:queue timeless
CREATE TABLE timeless (
    id     bigint PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new',  -- qgen:status ready=new running=busy done=done failed=failed
    leased timestamptz,                  -- qgen:lease length=5m; on claim set null
    body   text                          -- qgen:payload
);

-- qgen:queue kept
CREATE TABLE kept (
    id     bigint PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new',  -- qgen:status ready=new done=done failed=failed
    leased timestamptz,                  -- qgen:lease length=5m expired=claim
    agent  text,                         -- qgen:worker; status ready=null
    body   text                          -- qgen:payload
);
