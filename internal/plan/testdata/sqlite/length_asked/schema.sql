-- Who claims says for how long. Of whole seconds one may be over at once.
-- qgen:queue letters done=delete
CREATE TABLE letters (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    body TEXT NOT NULL,
    till INTEGER -- qgen:lease as=epoch length=arg
);
-- qgen:queue cards done=delete
CREATE TABLE cards (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    body TEXT NOT NULL,
    mark TEXT,   -- qgen:token
    till INTEGER -- qgen:lease as=epoch_ms length=arg
);
