-- Keys of sixteen bytes that the application chooses.
-- qgen:queue
CREATE TABLE jobs (
    id         RAW(16) NOT NULL PRIMARY KEY,
    n          NUMBER(18) NOT NULL,                     -- qgen:payload; order
    status     VARCHAR2(16) DEFAULT 'ready' NOT NULL,   -- qgen:status ready=ready running=running done=done failed=failed
    token      RAW(16),                                 -- qgen:token
    lease_till NUMBER(18)                               -- qgen:lease length=1h as=epoch_us
);
