-- Rows that are taken in batches, with the times of enqueue, dequeue and finish for later analysis.
-- qgen:queue tasks
CREATE TABLE dbo.TaskQueue (
    Id        bigint IDENTITY(1,1) NOT NULL PRIMARY KEY CLUSTERED,
    Status    tinyint NOT NULL DEFAULT (0),                   -- qgen:status ready=0 running=9 done=1 failed=2
    Priority  smallint NOT NULL DEFAULT (0),                  -- qgen:priority desc
    Data      nvarchar(max) NULL,                             -- qgen:payload
    TmEnqueue datetime2(3) NOT NULL DEFAULT (SYSUTCDATETIME()), -- qgen:enqueued clock=utc; order 2
    TmProcess datetime2(3) NULL,                              -- qgen:claimed timeout=15m clock=utc
    TmDone    datetime2(3) NULL                               -- qgen:finished clock=utc
)
GO
CREATE NONCLUSTERED INDEX IX_TaskQueue ON dbo.TaskQueue (Priority DESC, TmEnqueue, Id) INCLUDE (Data) WHERE Status = 0
GO
