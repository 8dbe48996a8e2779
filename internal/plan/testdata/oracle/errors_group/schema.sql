-- At most two hooks of one tenant run at once; a hook of nobody is held back by none.
-- qgen:queue hooks
CREATE TABLE hooks (
    id        NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant    VARCHAR2(40), -- qgen:group limit=2 free=null|'*'
    state     VARCHAR2(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=dead
    until_at  TIMESTAMP(6) WITH TIME ZONE NULL -- qgen:lease length=5m
);

-- A table that is its own index.
-- qgen:queue leaves
CREATE TABLE leaves (
    id        NUMBER(18) PRIMARY KEY,
    tenant    VARCHAR2(40) NOT NULL, -- qgen:group limit=1
    state     VARCHAR2(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=dead
    until_at  TIMESTAMP(6) WITH TIME ZONE NULL -- qgen:lease length=5m
) ORGANIZATION INDEX;

-- A table whose rows move when they are claimed.
-- qgen:queue parts
CREATE TABLE parts (
    id        NUMBER(18) PRIMARY KEY,
    tenant    VARCHAR2(40) NOT NULL, -- qgen:group limit=1
    state     VARCHAR2(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=dead
    until_at  TIMESTAMP(6) WITH TIME ZONE NULL -- qgen:lease length=5m
) PARTITION BY LIST (state) (PARTITION live VALUES ('new', 'busy'), PARTITION old VALUES (DEFAULT));

CREATE TABLE north.rooms (id VARCHAR2(40) PRIMARY KEY);
CREATE TABLE south.rooms (id VARCHAR2(40) PRIMARY KEY);
