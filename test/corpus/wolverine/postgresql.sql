-- Wolverine's durable inbox: 0 owns what nobody owns, and what is scheduled waits with a status of its own.
-- qgen:queue incoming failed=keep
CREATE TABLE wolverine_incoming_envelopes (
    id uuid NOT NULL,
    status varchar(25) NOT NULL,          -- qgen:status ready=Incoming|Scheduled running~Incoming|Scheduled done=Handled failed=Dead; on retry set Scheduled
    owner_id int NOT NULL,                -- qgen:worker free=0 type=int
    execution_time timestamptz DEFAULT NULL, -- qgen:due
    attempts int DEFAULT 0,               -- qgen:attempts up on=retry max=5
    body bytea NOT NULL,                  -- qgen:payload
    message_type varchar(250) NOT NULL,   -- qgen:payload
    received_at varchar(250) NOT NULL,    -- qgen:topic
    keep_until timestamptz DEFAULT NULL,  -- qgen:on done set "now() + interval '5 minutes'"
    PRIMARY KEY (id, received_at)
);
CREATE INDEX idx_wolverine_incoming_owner ON wolverine_incoming_envelopes (owner_id) WHERE owner_id <> 0;
