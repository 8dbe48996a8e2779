-- No two rows may have one token, so each row of a claim gets its own.
CREATE TABLE messages (
    id     bigint IDENTITY PRIMARY KEY,
    handle uniqueidentifier NULL, -- qgen:token
    taken  datetime2,             -- qgen:claimed timeout=30s
    body   nvarchar(max)
);
CREATE UNIQUE INDEX message_handle ON messages (handle) WHERE handle IS NOT NULL;
