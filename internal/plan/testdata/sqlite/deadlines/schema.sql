-- Recover takes what runs past a deadline that a job has from the beginning, also where a stage runs it.
CREATE TABLE tasks (
    id       INTEGER PRIMARY KEY,
    deadline INTEGER NOT NULL,                 -- qgen:on(tasks, recurring) enqueue set "unixepoch() + 3600"
    state    TEXT NOT NULL DEFAULT 'new'       -- qgen:status(tasks) ready=new running=busy done=done failed=failed; status(recurring) ready=new running=busy done=done failed=failed
);
