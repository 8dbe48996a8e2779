-- Two values mean ready, and finished rows stay.
-- qgen:queue
CREATE TABLE requests (
    id       NUMBER(19) PRIMARY KEY,
    status   VARCHAR2(20) NOT NULL, -- qgen:status ready=QUEUED|RETRYING running=RUNNING done=DONE failed=ERROR; on retry set RETRYING
    priority NUMBER(10) NOT NULL,   -- qgen:priority desc
    tries    NUMBER(10) NOT NULL,   -- qgen:attempts max=3
    data     BLOB
);
CREATE INDEX requests_status ON requests (status);

-- The same without an index, and each worker has its kind.
-- qgen:queue
CREATE TABLE orders (
    id     NUMBER(19) PRIMARY KEY,
    status VARCHAR2(20) NOT NULL, -- qgen:status ready=NEW|AGAIN running=RUNNING done=DONE
    kind   VARCHAR2(20) NOT NULL, -- qgen:topic
    mark   VARCHAR2(32)           -- qgen:token
);

-- Finished rows are gone, so that an index in the order of the queue holds few others.
-- qgen:queue done=delete
CREATE TABLE mails (
    id     NUMBER(19) PRIMARY KEY,
    status VARCHAR2(20) NOT NULL, -- qgen:status ready=NEW|AGAIN running=RUNNING
    sent   NUMBER(10) NOT NULL    -- qgen:priority
);

-- A partition holds the ready rows.
-- qgen:queue
CREATE TABLE parts (
    id     NUMBER(19) PRIMARY KEY,
    status NUMBER(2) NOT NULL, -- qgen:status ready=0|1 running=2 done=3
    made   NUMBER(10) NOT NULL -- qgen:order
) ENABLE ROW MOVEMENT PARTITION BY LIST (status) (PARTITION waiting VALUES (0, 1), PARTITION rest VALUES (DEFAULT));
