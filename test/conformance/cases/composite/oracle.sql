-- Two columns name a row, and the application chooses both.
-- qgen:queue
CREATE TABLE jobs (
    region     VARCHAR2(8) NOT NULL,
    seq        NUMBER(18) NOT NULL,                     -- qgen:order
    n          NUMBER(18) NOT NULL,                     -- qgen:payload
    status     VARCHAR2(16) DEFAULT 'ready' NOT NULL,   -- qgen:status ready=ready running=running done=done failed=failed
    token      VARCHAR2(40),                            -- qgen:token
    lease_till TIMESTAMP,                               -- qgen:lease length=1h clock=local
    CONSTRAINT jobs_pk PRIMARY KEY (region, seq)
);
