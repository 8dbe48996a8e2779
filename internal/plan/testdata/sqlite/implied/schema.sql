-- A condition of the claim that stands between OR in the predicate of an index has the row stand there: SQLite sees
-- it where it is the same.
CREATE TABLE mails (
    id     integer PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=failed
    due_at integer NOT NULL             -- qgen:due as=epoch; order 1
);
CREATE INDEX mails_open ON mails (due_at, id) WHERE state = 'new' OR state = 'busy';

-- That OR of two values is IN, SQLite does not see.
CREATE TABLE calls (
    id     integer PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new', -- qgen:status ready=new|again running=busy done=done failed=failed
    due_at integer NOT NULL             -- qgen:due as=epoch; order 1
);
CREATE INDEX calls_open ON calls (due_at, id) WHERE state = 'new' OR state = 'again';
