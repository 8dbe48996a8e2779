-- Two columns name a row, and the application chooses both.
-- qgen:queue
CREATE TABLE jobs (
    region     text NOT NULL,
    seq        bigint NOT NULL,                      -- qgen:order
    n          bigint NOT NULL,                      -- qgen:payload
    status     text NOT NULL DEFAULT 'ready',        -- qgen:status ready=ready running=running done=done failed=failed
    token      uuid,                                 -- qgen:token
    lease_till timestamptz,                          -- qgen:lease length=1h
    PRIMARY KEY (region, seq)
);
