-- A claim is a row of its own, and what it took holds the id of that.
CREATE TABLE dbo.actions (
    id        bigint IDENTITY PRIMARY KEY,
    hook      nvarchar(100) NOT NULL,
    state     char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=E
    claim_id  bigint NOT NULL DEFAULT 0     -- qgen:token free=0 from=companion
);
GO
CREATE TABLE dbo.claims (
    id        int IDENTITY PRIMARY KEY,
    holder    nvarchar(60) NOT NULL,
    made_at   datetimeoffset NOT NULL
);
GO
CREATE TRIGGER dbo.claims_noted ON dbo.claims AFTER INSERT AS SELECT 1;
GO
CREATE TABLE dbo.steps (
    id        int PRIMARY KEY,
    state     char(1) NOT NULL, -- qgen:status ready=N running=A done=D
    run       uniqueidentifier  -- qgen:token from=companion
);
GO
CREATE TABLE dbo.runs (
    run       uniqueidentifier PRIMARY KEY DEFAULT newid(),
    began     datetimeoffset NOT NULL
);
