-- A table that is its own index.
CREATE TABLE steps (
    id       NUMBER(19) PRIMARY KEY,
    state    CHAR(1) NOT NULL, -- qgen:status ready=N running=A done=D
    claim_id NUMBER(19)        -- qgen:token from=companion
) ORGANIZATION INDEX;
CREATE TABLE claims (
    id       NUMBER(19) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    made_at  TIMESTAMP WITH TIME ZONE NOT NULL
);
-- Only what is counted up is told.
CREATE TABLE drawn (
    id       NUMBER(19) DEFAULT TRUNC(DBMS_RANDOM.VALUE(1, 1000000)) PRIMARY KEY,
    made_at  TIMESTAMP WITH TIME ZONE NOT NULL
);
