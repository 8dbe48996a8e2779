-- qgen:queue
CREATE TABLE dbo.events (
    id      uniqueidentifier NOT NULL PRIMARY KEY,
    stamp   rowversion NOT NULL, -- qgen:seq
    created datetime NOT NULL
);
