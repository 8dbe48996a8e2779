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
