-- qgen:queue incoming failed=keep
CREATE TABLE dbo.wolverine_incoming_envelopes (
    id uniqueidentifier NOT NULL,
    status varchar(25) NOT NULL,          -- qgen:status ready=Incoming|Scheduled running~Incoming|Scheduled done=Handled failed=Dead; on retry set Scheduled
    owner_id int NOT NULL,                -- qgen:worker free=0 type=int
    execution_time datetimeoffset DEFAULT NULL, -- qgen:due
    attempts int DEFAULT 0,               -- qgen:attempts up on=retry max=5
    body varbinary(max) NOT NULL,         -- qgen:payload
    message_type varchar(250) NOT NULL,   -- qgen:payload
    received_at varchar(250) NOT NULL,    -- qgen:topic
    keep_until datetimeoffset NULL,       -- qgen:on done set "dateadd(minute, 5, sysdatetimeoffset())"
    CONSTRAINT pkey_wolverine_incoming PRIMARY KEY (id, received_at)
);
GO
CREATE INDEX idx_wolverine_incoming_owner ON dbo.wolverine_incoming_envelopes (owner_id) WHERE owner_id <> 0;
