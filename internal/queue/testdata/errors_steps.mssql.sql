-- qgen:queue
CREATE TABLE dbo.jobs (
    id       int NOT NULL PRIMARY KEY,
    st       int NOT NULL,       -- qgen:status ready=0 running=1 done=2 failed=3
    due_at   smalldatetime NULL, -- qgen:due clock=utc
    until_at smalldatetime NULL  -- qgen:lease length=20s clock=utc
);
-- qgen:queue done=delete
CREATE TABLE dbo.calls (
    id int NOT NULL PRIMARY KEY,
    at datetime NULL -- qgen:claimed timeout=6ms clock=utc
);
