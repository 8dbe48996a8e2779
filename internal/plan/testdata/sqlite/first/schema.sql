-- A new job has as many tries as it may have at most.
-- qgen:queue tasks
CREATE TABLE tasks (
    id     INTEGER PRIMARY KEY,
    state  TEXT NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    n_left INTEGER NOT NULL, -- qgen:attempts down on=claim max=most
    most   INTEGER NOT NULL,
    body   TEXT NOT NULL
);
-- Counts begin at 0, also where the column may be null: other programs compare them.
-- qgen:queue notes
CREATE TABLE notes (
    id     INTEGER PRIMARY KEY,
    state  TEXT NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    tries  INTEGER, -- qgen:attempts up on=claim max=5
    rev    INTEGER DEFAULT NULL -- qgen:version
);
