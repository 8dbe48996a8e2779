-- What tells a state may stand in a table that the steps write as well.
CREATE TABLE records (
    id     INTEGER PRIMARY KEY,
    status TEXT NOT NULL
);
-- qgen:queue tasks done=delete
CREATE TABLE tasks (
    id     INTEGER PRIMARY KEY,
    record INTEGER NOT NULL,
    free   INTEGER NOT NULL, -- qgen:status ready=1 running~"free = 0 and exists (select 1 from records b where b.id = {row}.record and b.status = 'running')" running:=0 failed~"free = 0 and exists (select 1 from records b where b.id = {row}.record and b.status = 'error')" failed:=0
    since  INTEGER -- qgen:claimed as=epoch timeout=10s
);

-- A trigger of the other table changes the row that a step has locked.
-- qgen:queue marks
CREATE TABLE marks (
    id    INTEGER PRIMARY KEY,
    state TEXT NOT NULL -- qgen:status ready=N running=A done=D
);
CREATE TABLE trails (
    mark INTEGER NOT NULL
);
CREATE TRIGGER trails_mark AFTER INSERT ON trails BEGIN
    UPDATE marks SET state = 'X' WHERE id = NEW.mark;
END;

-- A claim is all that is written to the row; how it ended stands elsewhere.
-- qgen:queue calls
CREATE TABLE calls (
    id    INTEGER PRIMARY KEY,
    taken INTEGER, -- qgen:status ready=null running=now; claimed as=epoch
    ended INTEGER, -- qgen:status ready=null running~null done=now as=epoch
    body  TEXT
);
