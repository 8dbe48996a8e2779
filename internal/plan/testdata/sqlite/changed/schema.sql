-- A claim changes the rows that its caller names, and they stay as ready as they are.
-- qgen:queue bumps strategy=pop locked=wait done=keep
CREATE TABLE bumps (
    id       INTEGER PRIMARY KEY, -- qgen:topic list
    priority INTEGER NOT NULL DEFAULT 0, -- qgen:on done set arg:priority; payload
    seen     INTEGER NOT NULL DEFAULT 0 -- qgen:on done set +1
);

-- A claim deletes its rows and tells another table of them.
-- qgen:queue drops strategy=pop done=delete
CREATE TABLE drops (
    id   INTEGER PRIMARY KEY, -- qgen:topic list
    body TEXT NOT NULL
);
CREATE TABLE dropped (id INTEGER NOT NULL, body TEXT NOT NULL, reason TEXT NOT NULL);

-- A claim takes its rows to another table, and adds them up in a third.
-- qgen:queue retired strategy=pop
CREATE TABLE retired (
    id   INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL -- qgen:topic
);
CREATE TABLE archive (id INTEGER NOT NULL, kind INTEGER NOT NULL);
CREATE TABLE totals (kind INTEGER PRIMARY KEY, gone INTEGER NOT NULL);

-- A claim tells another table what it changes, and its jobs are as it leaves them.
-- qgen:queue raised strategy=pop done=keep
CREATE TABLE raised (
    id       INTEGER PRIMARY KEY, -- qgen:topic list
    priority INTEGER NOT NULL DEFAULT 0, -- qgen:on done set "priority + {arg:by int}"; payload
    twice    INTEGER GENERATED ALWAYS AS (priority * 2)
);
CREATE TABLE raises (id INTEGER NOT NULL, was INTEGER NOT NULL);
