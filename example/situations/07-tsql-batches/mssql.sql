-- The T-SQL queue: a procedure takes @N rows from status 0 to status 9 and notes
-- when. Three times are kept for later analysis.
-- qgen:queue
CREATE TABLE dbo.TaskQueue (
    Id        bigint IDENTITY(1,1) NOT NULL PRIMARY KEY CLUSTERED,
    Status    tinyint NOT NULL DEFAULT (0),                     -- qgen:status ready=0 running=9 done=1 failed=2
    Priority  smallint NOT NULL DEFAULT (0),                    -- qgen:priority desc
    Data      nvarchar(max) NOT NULL,                           -- qgen:payload
    TmEnqueue datetime2(3) NOT NULL DEFAULT (SYSUTCDATETIME()), -- qgen:enqueued clock=utc; order 2
    TmProcess datetime2(3) NULL,                                -- qgen:claimed timeout=15m clock=utc
    TmFinish  datetime2(3) NULL                                 -- qgen:finished clock=utc
)
GO
CREATE INDEX IX_TaskQueue ON dbo.TaskQueue (Priority DESC, TmEnqueue, Id) WHERE Status = 0
GO
