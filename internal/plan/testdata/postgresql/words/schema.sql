-- Arguments of the user's: per job of Complete, per call of the others.
-- qgen:queue given
CREATE TABLE given (
    id       bigserial PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    till     timestamptz, -- qgen:lease length=5m
    tries    int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    answer   text, -- qgen:result
    response int, -- qgen:on done set arg:response
    code     int,
    host     text, -- qgen:on claim set arg:host
    who      text
);

-- Results that are cut.
-- qgen:queue cut
CREATE TABLE cut (
    id       bigserial PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D
    answer   text -- qgen:result max=20
);

-- Results that are added to what the column holds.
-- qgen:queue documents
CREATE TABLE documents (
    id       bigserial PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D
    answers  jsonb -- qgen:result append
);

-- Arrays of results and of workers.
-- qgen:queue arrays
CREATE TABLE arrays (
    id       bigserial PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D
    answers  text[], -- qgen:result append max=20
    workers  text[] -- qgen:worker append
);

-- Workers that say themselves that they are alive.
-- qgen:queue held
CREATE TABLE held (
    id       bigserial PRIMARY KEY,
    state    char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    tries    int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    holder   text -- qgen:worker
);
CREATE TABLE processes (
    name     text PRIMARY KEY,
    beat     timestamptz NOT NULL,
    active   int NOT NULL
);
