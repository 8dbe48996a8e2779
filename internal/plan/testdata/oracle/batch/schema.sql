-- A claim is a row of its own, and what it took holds the id of that.
CREATE TABLE actions (
    id        NUMBER(19) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    hook      VARCHAR2(100) NOT NULL,
    state     CHAR(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    claim_id  NUMBER(19) DEFAULT 0 NOT NULL -- qgen:token free=0 from=companion
);
CREATE TABLE claims (
    id        NUMBER(19) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    holder    VARCHAR2(60) NOT NULL,
    made_at   TIMESTAMP WITH TIME ZONE NOT NULL
);
-- A table that is its own index.
CREATE TABLE steps (
    id        NUMBER(19) PRIMARY KEY,
    state     CHAR(1) NOT NULL, -- qgen:status ready=N running=A done=D
    claim_id  NUMBER(19)        -- qgen:token from=companion
) ORGANIZATION INDEX;
