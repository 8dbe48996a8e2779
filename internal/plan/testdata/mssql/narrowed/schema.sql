-- A topic that may be left out: the plan of a claim is made for what it is given.
-- qgen:queue jobs
CREATE TABLE jobs (
    id    bigint IDENTITY PRIMARY KEY,
    kind  varchar(20) NOT NULL,  -- qgen:topic optional
    state char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D
    body  nvarchar(max)
);
GO
-- qgen:queue watched
CREATE TABLE watched (
    id    bigint IDENTITY PRIMARY KEY,
    kind  varchar(20) NOT NULL,  -- qgen:topic list optional
    state char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D
    body  nvarchar(max)
);
GO
CREATE TRIGGER watched_changed ON watched AFTER UPDATE AS BEGIN SET NOCOUNT ON; END;
GO
-- qgen:queue letters done=delete
CREATE TABLE letters (
    id    bigint IDENTITY PRIMARY KEY,
    kind  varchar(20) NOT NULL,  -- qgen:topic optional
    body  nvarchar(max)
);
