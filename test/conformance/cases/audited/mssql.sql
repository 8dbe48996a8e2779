-- A trigger writes down what happens to jobs, and the columns are those that
-- travel in other clothes.
-- qgen:queue
CREATE TABLE jobs (
    id         uniqueidentifier NOT NULL CONSTRAINT DF_jobs_id DEFAULT NEWSEQUENTIALID() CONSTRAINT PK_jobs PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload; order
    status     tinyint NOT NULL DEFAULT 0,              -- qgen:status ready=0 running=1 done=2 failed=9
    token      binary(16),                              -- qgen:token
    lease_till smalldatetime,                           -- qgen:lease length=1h clock=utc
    text       varchar(max) NOT NULL DEFAULT '',        -- qgen:payload
    price      decimal(9, 2),                           -- qgen:payload
    ends_on    date,                                    -- qgen:payload
    picture    varbinary(max),                          -- qgen:payload
    seen_at    datetime,                                -- qgen:payload
    flag       bit,                                     -- qgen:payload
    ratio      real                                     -- qgen:payload
);
GO
CREATE TABLE jobs_log (
    job uniqueidentifier NOT NULL,
    at  datetime2 NOT NULL
);
GO
CREATE TRIGGER jobs_audit ON jobs AFTER INSERT, UPDATE AS
    INSERT INTO jobs_log (job, at) SELECT id, SYSUTCDATETIME() FROM inserted;
GO
