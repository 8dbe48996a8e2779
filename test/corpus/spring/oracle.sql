CREATE SEQUENCE INT_MESSAGE_SEQ START WITH 1 INCREMENT BY 1;

-- qgen:queue channel done=delete
CREATE TABLE INT_CHANNEL_MESSAGE (
    MESSAGE_ID CHAR(36) NOT NULL,          -- qgen:payload
    GROUP_KEY VARCHAR2(36) NOT NULL,       -- qgen:topic
    CREATED_DATE NUMBER(19,0) NOT NULL,    -- qgen:enqueued as=epoch_ms; order 2
    MESSAGE_PRIORITY NUMBER(19,0),         -- qgen:order 1 desc nulls=last
    MESSAGE_SEQUENCE NUMBER(19,0) NOT NULL, -- qgen:order 3
    MESSAGE_CONTENT BLOB,                  -- qgen:payload
    REGION VARCHAR2(100) NOT NULL,         -- qgen:topic
    constraint INT_CHANNEL_MESSAGE_PK primary key (REGION, GROUP_KEY, CREATED_DATE, MESSAGE_SEQUENCE)
);
CREATE INDEX INT_CHANNEL_MSG_DELETE_IDX ON INT_CHANNEL_MESSAGE (REGION, GROUP_KEY, MESSAGE_ID);
