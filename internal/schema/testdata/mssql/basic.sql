-- A comment that stands at nothing.

-- qgen:queue email
-- second line
CREATE TABLE email_outbox (
    -- qgen:where "a = 1"
    msg_id     BIGINT IDENTITY(1,1) PRIMARY KEY, -- the id
    state      CHAR(1) NOT NULL DEFAULT 'N' CHECK (state IN ('N', 'A', 'C', 'E')), -- qgen:status ready=N running=A
    -- qgen:topic
    kind       varchar(20) NOT NULL, priority INT DEFAULT (1 + 2), -- qgen:priority desc
    created_at DATETIME2 NOT NULL DEFAULT SYSUTCDATETIME(), /* qgen:enqueued */
    due        datetimeoffset(3) NULL DEFAULT NULL, -- qgen:due
    body       NVARCHAR(MAX) -- qgen:payload
        NOT NULL CHECK (ISJSON(body) = 1),
    CONSTRAINT named UNIQUE (kind, priority DESC), -- not a column

    -- a comment between
    CHECK (priority > 0 AND kind <> ''),
    CHECK (kind = 'a' OR kind IN ('b', 'c') OR kind IS NULL),
    INDEX by_state NONCLUSTERED (state, due, msg_id)
) -- qgen:done
CREATE INDEX ready ON email_outbox (priority DESC, created_at) INCLUDE (kind) WHERE state = 'N'
CREATE UNIQUE INDEX [once] ON email_outbox (kind);
GO
CREATE TRIGGER touch ON email_outbox AFTER UPDATE AS
BEGIN
    UPDATE other SET priority = CASE WHEN 1 = 1 THEN 2 END; -- qgen:loose
    IF UPDATE(priority) BEGIN SELECT 1 END
END;
CREATE TABLE not_made_here (id int);
GO
EXEC sys.sp_addextendedproperty @name = N'qgen', @value = N'queue outbox', @level0type = N'SCHEMA', @level0name = N'dbo', @level1type = N'TABLE', @level1name = N'email_outbox'
EXEC sp_addextendedproperty 'MS_Description', N'a kind; it''s qgen:topic list', 'SCHEMA', dbo, 'TABLE', email_outbox, 'COLUMN', kind
CREATE TABLE [Mixed Case] ([Id] INT, "two" tinyint, [a]]b] BINARY(16), plain REAL, PRIMARY KEY NONCLUSTERED ([id], [TWO]));
ALTER TABLE email_outbox ADD worker nvarchar(64); -- qgen:worker
-- qgen:lease
ALTER TABLE dbo.email_outbox ADD lease_until DATETIME2(3) NULL
GO
