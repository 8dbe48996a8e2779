-- Messages of several types for several readers. State is N (new), A (a reader has
-- it), C (completed) or E (error).
-- qgen:queue
CREATE TABLE dbo.MsgQueue (
    MsgQueueId  int IDENTITY(1,1) NOT NULL CONSTRAINT PK_MsgQueue PRIMARY KEY,
    MsgTypeCode varchar(20) NOT NULL,                                               -- qgen:topic
    Msg         nvarchar(max) NOT NULL,                                             -- qgen:payload
    State       char(1) NOT NULL CONSTRAINT DF_MsgQueue_State DEFAULT ('N'),        -- qgen:status ready=N running=A done=C failed=E
    CreateTime  datetime NOT NULL CONSTRAINT DF_MsgQueue_Create DEFAULT (GETDATE()), -- qgen:enqueued clock=local; order 1
    StartTime   datetime NULL,                                                      -- qgen:claimed timeout=10m clock=local
    EndTime     datetime NULL,                                                      -- qgen:finished clock=local
    ReaderCode  varchar(50) NULL                                                    -- qgen:worker
)
GO
CREATE INDEX IX_MsgQueue_New ON dbo.MsgQueue (MsgTypeCode, CreateTime, MsgQueueId) WHERE State = 'N'
GO
