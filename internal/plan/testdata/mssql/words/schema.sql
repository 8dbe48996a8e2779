-- Arguments of the user's: per job of Complete, per call of the others.
-- qgen:queue given
CREATE TABLE given (
    id       bigint IDENTITY PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    till     datetime2, -- qgen:lease length=5m
    tries    int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    answer   nvarchar(200), -- qgen:result
    response int, -- qgen:on done set arg:response
    code     int,
    host     nvarchar(200), -- qgen:on claim set arg:host
    who      nvarchar(200)
);

-- Results that are cut.
-- qgen:queue cut
CREATE TABLE cut (
    id       bigint IDENTITY PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D
    answer   nvarchar(40) -- qgen:result max=20
);

-- Workers that say themselves that they are alive.
-- qgen:queue held
CREATE TABLE held (
    id       bigint IDENTITY PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    tries    int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    holder   nvarchar(40) -- qgen:worker
);
CREATE TABLE processes (
    name     nvarchar(40) PRIMARY KEY,
    beat     datetime2 NOT NULL,
    active   int NOT NULL
);
