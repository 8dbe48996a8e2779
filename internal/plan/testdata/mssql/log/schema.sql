CREATE TABLE dbo.events (
    id         bigint IDENTITY PRIMARY KEY, -- qgen:seq gaps settle=60s
    kind       varchar(20) NOT NULL,
    created_at datetime2 NOT NULL DEFAULT SYSUTCDATETIME(), -- qgen:enqueued
    body       nvarchar(max) NOT NULL
);

-- The version of a row is its place.
CREATE TABLE dbo.changes (
    id         uniqueidentifier NOT NULL PRIMARY KEY,
    kind       varchar(20) NOT NULL,
    created_at datetime NOT NULL DEFAULT GETUTCDATE(), -- qgen:enqueued
    stamp      timestamp -- qgen:seq
);
