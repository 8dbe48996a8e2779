-- Who has a row tells that it runs, and a claim that has run out leaves it: Recover takes such rows.
-- qgen:queue freed
CREATE TABLE freed (
    id     bigint PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new',  -- qgen:status ready=new done=done failed=failed
    leased timestamptz,                  -- qgen:lease length=5m
    agent  text,                         -- qgen:worker; status ready=null
    body   text                          -- qgen:payload
);

-- Who adds a row by hand leaves the default, which is as free as null.
-- qgen:queue defaulted
CREATE TABLE defaulted (
    id     bigint PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new',  -- qgen:status ready=new done=done failed=failed
    agent  text DEFAULT '',              -- qgen:worker
    body   text                          -- qgen:payload
);
