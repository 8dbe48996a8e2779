-- qgen:queue jobs
CREATE TABLE jobs (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    status varchar(10) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=ok
    owner  varchar(64), -- qgen:worker
    since  datetime(6), -- qgen:claimed timeout=30m
    body   json NOT NULL
);

-- Rows that are held by their locks.
-- qgen:queue letters strategy=hold
CREATE TABLE letters (
    id   bigint AUTO_INCREMENT PRIMARY KEY,
    sent datetime, -- qgen:finished
    body text NOT NULL
);
