-- Arguments of the user's: per job of Complete, per call of the others.
-- qgen:queue given
CREATE TABLE given (
    id       INTEGER PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    till     INTEGER, -- qgen:lease length=5m as=epoch
    tries    INTEGER DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    answer   TEXT, -- qgen:result
    response INTEGER, -- qgen:on done set arg:response
    code     INTEGER,
    host     TEXT, -- qgen:on claim set arg:host
    who      TEXT
);

-- Results that are cut.
-- qgen:queue cut
CREATE TABLE cut (
    id       INTEGER PRIMARY KEY,
    state    TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D
    answer   TEXT -- qgen:result max=20
);

-- Results that are added to what the column holds.
-- qgen:queue documents
CREATE TABLE documents (
    id       INTEGER PRIMARY KEY,
    state    TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D
    answers  JSON -- qgen:result append
);

-- Workers that say themselves that they are alive.
-- qgen:queue held
CREATE TABLE held (
    id       INTEGER PRIMARY KEY,
    state    TEXT DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    tries    INTEGER DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    holder   TEXT -- qgen:worker
);
CREATE TABLE processes (
    name     TEXT PRIMARY KEY,
    beat     INTEGER NOT NULL,
    active   INTEGER NOT NULL
);
