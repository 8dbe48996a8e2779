-- qgen:queue
CREATE TABLE dbo.events (
    id      uniqueidentifier NOT NULL PRIMARY KEY,
    stamp   varbinary(8) NOT NULL, -- qgen:seq
    created datetime NOT NULL
);
-- qgen:queue
CREATE TABLE dbo.changes (
    id    uniqueidentifier NOT NULL PRIMARY KEY,
    stamp rowversion -- qgen:seq notunique
);
