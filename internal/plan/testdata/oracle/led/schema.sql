-- An index of the table leads to what claims ask for, and lacks the order of the queue.
CREATE TABLE outbox (
    id        VARCHAR2(36) PRIMARY KEY,
    body      CLOB,                -- qgen:payload
    next_time TIMESTAMP(6),        -- qgen:visible null=never
    version   NUMBER,              -- qgen:version
    processed NUMBER(1),           -- qgen:status ready=0 done=1
    topic     VARCHAR2(250) NOT NULL,
    seq       NUMBER               -- qgen:order 1
);
CREATE INDEX outbox_1 ON outbox (processed, next_time);
CREATE INDEX outbox_2 ON outbox (topic, processed, seq);
