-- A claim changes the rows that its caller names, and they stay as ready as they are.
-- qgen:queue bumps strategy=pop locked=wait done=keep
CREATE TABLE bumps (
    id       INTEGER PRIMARY KEY, -- qgen:topic list
    priority INTEGER NOT NULL DEFAULT 0, -- qgen:on done set arg:priority; payload
    seen     INTEGER NOT NULL DEFAULT 0 -- qgen:on done set +1
);
