CREATE TABLE blank (
    id     NUMBER(9) PRIMARY KEY,
    status VARCHAR2(1) -- qgen:status ready='' running=A done=C
);
CREATE TABLE plain (
    id     NUMBER(9) PRIMARY KEY,
    status VARCHAR2(1) DEFAULT 'N' NOT NULL -- qgen:status ready=N running=A done=C
);
CREATE TABLE flat (
    id     NUMBER(9),
    status VARCHAR2(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=C
    CONSTRAINT flat_pk PRIMARY KEY (id)
) ORGANIZATION INDEX;
