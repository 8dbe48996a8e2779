-- qgen:queue email
CREATE TABLE dbo.email_outbox (
    msg_id     bigint IDENTITY(1,1) NOT NULL CONSTRAINT PK_email_outbox PRIMARY KEY,
    state      char(1) NOT NULL CONSTRAINT DF_email_state DEFAULT ('N') CHECK (state IN ('N', 'A', 'C', 'E')), -- qgen:status ready=N running=A done=C failed=E
    kind       varchar(20) NOT NULL,                          -- qgen:topic
    priority   int NOT NULL DEFAULT (0),                      -- qgen:priority desc
    created_at datetimeoffset(3) NOT NULL DEFAULT (SYSDATETIMEOFFSET()), -- qgen:enqueued; order 2 desc
    not_before datetime2(3) NULL,                             -- qgen:due clock=utc
    lease_till datetime2(7) NULL,                             -- qgen:lease length=5m clock=utc
    token      uniqueidentifier NULL,                         -- qgen:token
    tries      int NOT NULL DEFAULT (0),                      -- qgen:attempts up on=claim max=5
    last_error nvarchar(1000) NULL,                           -- qgen:error
    body       nvarchar(max) NOT NULL CHECK (ISJSON(body) = 1), -- qgen:payload
    seen       rowversion
);
GO
