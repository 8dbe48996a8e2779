-- qgen:queue email
CREATE TABLE email_outbox (
    msg_id     NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state      CHAR(1) DEFAULT 'N' NOT NULL CHECK (state IN ('N', 'A', 'C', 'E')), -- qgen:status ready=N running=A done=C failed=E
    kind       VARCHAR2(20) NOT NULL,                         -- qgen:topic
    priority   NUMBER(9) DEFAULT 0 NOT NULL,                  -- qgen:priority desc
    created_at TIMESTAMP(6) WITH TIME ZONE DEFAULT SYSTIMESTAMP NOT NULL, -- qgen:enqueued; order 2 desc
    not_before DATE,                                          -- qgen:due clock=utc
    lease_till TIMESTAMP(6),                                  -- qgen:lease length=5m clock=utc
    token      RAW(16),                                       -- qgen:token
    tries      NUMBER(5) DEFAULT 0 NOT NULL,                  -- qgen:attempts up on=claim max=5
    last_error VARCHAR2(1000),                                -- qgen:error
    body       CLOB NOT NULL CHECK (body IS JSON)             -- qgen:payload
);
