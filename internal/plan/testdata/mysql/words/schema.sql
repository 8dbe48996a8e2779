-- Arguments of the user's: per job of Complete, per call of the others.
-- qgen:queue given
CREATE TABLE given (
    id       bigint AUTO_INCREMENT PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    till     datetime(6), -- qgen:lease length=5m
    tries    int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    answer   varchar(200), -- qgen:result
    response int, -- qgen:on done set arg:response
    code     int,
    host     varchar(200), -- qgen:on claim set arg:host
    who      varchar(200)
);

-- Results that are cut.
-- qgen:queue cut
CREATE TABLE cut (
    id       bigint AUTO_INCREMENT PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D
    answer   varchar(40) -- qgen:result max=20
);

-- Results that are added to what the column holds.
-- qgen:queue documents
CREATE TABLE documents (
    id       bigint AUTO_INCREMENT PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D
    answers  json -- qgen:result append
);

-- Workers that say themselves that they are alive.
-- qgen:queue held
CREATE TABLE held (
    id       bigint AUTO_INCREMENT PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    tries    int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    holder   varchar(40) -- qgen:worker
);
CREATE TABLE processes (
    name     varchar(40) PRIMARY KEY,
    beat     datetime(6) NOT NULL,
    active   int NOT NULL
);
