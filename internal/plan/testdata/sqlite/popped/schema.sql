-- A claim is the end of its jobs, and their rows stay.
-- qgen:queue strategy=pop clock=utc
CREATE TABLE urls (
    id        INTEGER PRIMARY KEY,
    job       int NOT NULL, -- qgen:topic
    uri       TEXT NOT NULL,
    processed INTEGER NOT NULL DEFAULT 0, -- qgen:status ready=0 done=1
    seen      INTEGER -- qgen:finished as=epoch
);
-- qgen:queue strategy=pop clock=utc
CREATE TABLE flips (
    id        INTEGER PRIMARY KEY,
    status    TEXT NOT NULL,
    until_at  INTEGER, -- qgen:expires as=epoch
    processed INTEGER -- qgen:status ready=null done=now; finished as=epoch
);
-- What a claim writes it is given, also to a column by which rows are taken.
-- qgen:queue strategy=pop clock=utc
CREATE TABLE letters (
    id     INTEGER PRIMARY KEY,
    box    int NOT NULL, -- qgen:topic
    state  TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new|busy done=cancelled
    place  int NOT NULL, -- qgen:order 1; on done set arg:rank; payload
    reason TEXT -- qgen:on done set arg:reason
);

-- SQL tells which rows are ready, and what new ones are is another matter: nothing tries a job again.
-- qgen:queue unlocked strategy=pop purge=none
CREATE TABLE unlocked (
    id    INTEGER PRIMARY KEY,
    state int NOT NULL -- qgen:status ready~"state > 1000" ready:=1001 done:=1
);

-- What a consumer takes is made before a time that it says: it names no rows, and handles those that it takes.
CREATE TABLE messages (
    id      INTEGER PRIMARY KEY,
    channel TEXT NOT NULL,
    body    TEXT NOT NULL,
    made    INTEGER NOT NULL
);
