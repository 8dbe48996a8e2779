-- qgen:queue jobs
CREATE TABLE dbo.jobs (
    id     bigint IDENTITY PRIMARY KEY,
    status char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=C
    taken  bit NOT NULL DEFAULT 0, -- qgen:ignore
    body   nvarchar(max) NOT NULL
);

-- Rows whose status is a bit.
-- qgen:queue letters
CREATE TABLE letters (
    id      bigint IDENTITY PRIMARY KEY,
    sending bit NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1
    sent    datetime2, -- qgen:finished
    body    nvarchar(max) NOT NULL
);
