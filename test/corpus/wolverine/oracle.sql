-- qgen:queue incoming failed=keep
CREATE TABLE WOLVERINE_INCOMING_ENVELOPES (
    ID RAW(16) NOT NULL,
    STATUS VARCHAR2(25) NOT NULL,         -- qgen:status ready=Incoming|Scheduled running~Incoming|Scheduled done=Handled failed=Dead; on retry set Scheduled
    OWNER_ID NUMBER(10) NOT NULL,         -- qgen:worker free=0 type=int
    EXECUTION_TIME TIMESTAMP(6) WITH TIME ZONE, -- qgen:due
    ATTEMPTS NUMBER(10) DEFAULT 0,        -- qgen:attempts up on=retry max=5
    BODY BLOB NOT NULL,                   -- qgen:payload
    MESSAGE_TYPE VARCHAR2(250) NOT NULL,  -- qgen:payload
    RECEIVED_AT VARCHAR2(250) NOT NULL,   -- qgen:topic
    KEEP_UNTIL TIMESTAMP(6) WITH TIME ZONE, -- qgen:on done set "systimestamp + interval '5' minute"
    CONSTRAINT PKEY_WOLVERINE_INCOMING PRIMARY KEY (ID, RECEIVED_AT)
);
