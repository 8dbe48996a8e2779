-- qgen:queue
CREATE TABLE marked (
    id  bigint PRIMARY KEY,
    st  text NOT NULL, -- qgen:status ready=r running=x done=d failed=f
    n   int NOT NULL DEFAULT 0 -- qgen:attempts up on=retry
);
-- qgen:queue
CREATE TABLE moved (
    id  bigint PRIMARY KEY,
    st  text NOT NULL, -- qgen:status ready=r running=x done=d
    n   int NOT NULL DEFAULT 0 -- qgen:attempts up on=retry
);
CREATE TABLE dead (id bigint NOT NULL);
