CREATE TABLE inbox (
    id bigint NOT NULL PRIMARY KEY,
    weight int NOT NULL,     -- qgen:priority desc
    body text NOT NULL       -- qgen:payload
);

CREATE TABLE tasks (
    id bigint NOT NULL PRIMARY KEY,
    state char(1) NOT NULL,  -- qgen:status ready=N running=A done=C failed=E
    token char(32),          -- qgen:token
    body text NOT NULL       -- qgen:payload
);

CREATE TABLE questions (
    id bigint NOT NULL PRIMARY KEY,
    state char(1) NOT NULL,  -- qgen:status ready=? running=A done=C failed=E
    token char(32),          -- qgen:token
    body text NOT NULL       -- qgen:payload
);
