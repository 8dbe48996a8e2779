-- Who has a row tells that it runs, and a claim that has run out leaves it: Recover takes such rows.
-- qgen:queue freed
CREATE TABLE freed (
    id     bigint PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new',  -- qgen:status ready=new done=done failed=failed
    leased timestamptz,                  -- qgen:lease length=5m
    agent  text,                         -- qgen:worker; status ready=null
    body   text                          -- qgen:payload
);
