-- Names that are hard on SQL and on Go: keywords of both, capitals, blanks,
-- quotes, letters of other languages, and what would end a comment or a text.
-- qgen:queue
CREATE TABLE jobs (
    [Select]      bigint IDENTITY NOT NULL PRIMARY KEY,
    n             bigint NOT NULL,                    -- qgen:payload
    [State of it] varchar(16) NOT NULL DEFAULT 'ready', -- qgen:status ready=ready running=running done=done failed=failed
    func          int NOT NULL DEFAULT 0,             -- qgen:attempts up on=claim max=3
    [order]       datetimeoffset,                     -- qgen:lease length=1h
    range         nvarchar(64),                       -- qgen:worker
    [*/ err]      nvarchar(400),                      -- qgen:error max=200
    größe         int DEFAULT 7,                      -- qgen:payload
    日本          nvarchar(40),                       -- qgen:payload
    [it's]        nvarchar(40),                       -- qgen:payload
    [a"b]         nvarchar(40),                       -- qgen:payload
    [c]]d]        nvarchar(40),                       -- qgen:payload
    [100%s]       nvarchar(40),                       -- qgen:payload
    [{{.Table}}]  nvarchar(40),                       -- qgen:payload
    [@p1]         nvarchar(40),                       -- qgen:payload
    [--]          nvarchar(40),                       -- qgen:ignore
    type          nvarchar(max) CHECK (ISJSON(type) = 1), -- qgen:payload json
    [Key]         nvarchar(40),                       -- qgen:payload
    LogValue      nvarchar(40),                       -- qgen:payload
    ctx           nvarchar(40),                       -- qgen:payload
    q             nvarchar(40),                       -- qgen:payload
    jobs          nvarchar(40),                       -- qgen:payload
    string        nvarchar(40),                       -- qgen:payload
    nil           nvarchar(40),                       -- qgen:payload
    [new
line]             nvarchar(40),                       -- qgen:payload
    [end]         datetimeoffset,                     -- qgen:finished
    since         datetimeoffset NOT NULL DEFAULT SYSDATETIMEOFFSET() -- qgen:enqueued
);
