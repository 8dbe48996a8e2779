-- qgen:queue channel done=delete
CREATE TABLE INT_CHANNEL_MESSAGE (
    MESSAGE_ID CHAR(36) NOT NULL,          -- qgen:payload
    GROUP_KEY CHAR(36) NOT NULL,           -- qgen:topic
    CREATED_DATE BIGINT NOT NULL,          -- qgen:enqueued as=epoch_ms; order 2
    MESSAGE_PRIORITY BIGINT,               -- qgen:order 1 desc nulls=last
    MESSAGE_SEQUENCE BIGINT NOT NULL AUTO_INCREMENT UNIQUE, -- qgen:order 3
    MESSAGE_CONTENT LONGBLOB,              -- qgen:payload
    REGION VARCHAR(100) NOT NULL,          -- qgen:topic
    constraint INT_CHANNEL_MESSAGE_PK primary key (REGION, GROUP_KEY, CREATED_DATE, MESSAGE_SEQUENCE)
) ENGINE=InnoDB;
CREATE INDEX INT_CHANNEL_MSG_DELETE_IDX ON INT_CHANNEL_MESSAGE (REGION, GROUP_KEY, MESSAGE_ID);
