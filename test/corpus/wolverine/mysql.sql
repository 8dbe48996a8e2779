-- qgen:queue incoming failed=keep
CREATE TABLE wolverine_incoming_envelopes (
    id CHAR(36) NOT NULL,
    status VARCHAR(25) NOT NULL,          -- qgen:status ready=Incoming|Scheduled running~Incoming|Scheduled done=Handled failed=Dead; on retry set Scheduled
    owner_id INT NOT NULL,                -- qgen:worker free=0 type=int
    execution_time DATETIME(6) DEFAULT NULL, -- qgen:due clock=utc
    attempts INT DEFAULT 0,               -- qgen:attempts up on=retry max=5
    body LONGBLOB NOT NULL,               -- qgen:payload
    message_type VARCHAR(250) NOT NULL,   -- qgen:payload
    received_at VARCHAR(250) NOT NULL,    -- qgen:topic
    keep_until DATETIME(6) DEFAULT NULL,  -- qgen:on done set "utc_timestamp(6) + interval 5 minute"
    PRIMARY KEY (id, received_at),
    INDEX idx_wolverine_incoming_owner (owner_id)
);
