-- Two columns name a row, and the application chooses both.
-- qgen:queue
CREATE TABLE jobs (
    region     nvarchar(8) NOT NULL,
    seq        bigint NOT NULL,                         -- qgen:order
    n          bigint NOT NULL,                         -- qgen:payload
    status     varchar(16) NOT NULL DEFAULT 'ready',    -- qgen:status ready=ready running=running done=done failed=failed
    token      varchar(40),                             -- qgen:token
    lease_till datetime2,                               -- qgen:lease length=1h clock=local
    CONSTRAINT PK_jobs PRIMARY KEY (region, seq)
);
