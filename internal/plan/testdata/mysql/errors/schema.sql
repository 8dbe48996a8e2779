CREATE TABLE plain (
    n   int NOT NULL,
    st  varchar(8) NOT NULL, -- qgen:status ready=a running=b done=c
    tok char(36)             -- qgen:token
);
CREATE TABLE inbox (
    id bigint NOT NULL PRIMARY KEY,
    weight int NOT NULL,
    body text NOT NULL       -- qgen:payload
);
