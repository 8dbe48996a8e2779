-- A version is a place in a log, of a row that is added and of one that is changed.
-- qgen:queue changes
CREATE TABLE dbo.changes (
    id    uniqueidentifier NOT NULL PRIMARY KEY,
    stamp timestamp -- qgen:seq
);
