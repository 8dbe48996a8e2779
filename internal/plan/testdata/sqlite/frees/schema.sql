-- Two queues that mark what runs alike: Recover of each takes it from the other.
CREATE TABLE calls (
    id    INTEGER PRIMARY KEY,
    agent TEXT,
    state TEXT NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
-- By the worker's name, and in one of them only as long as a column says so that a step writes.
CREATE TABLE silo (
    id   INTEGER PRIMARY KEY,
    sent INTEGER NOT NULL DEFAULT 0,
    node INTEGER NOT NULL DEFAULT 0 -- qgen:worker free=0
);
-- The one that has Recover takes what the other runs.
CREATE TABLE posts (
    id    INTEGER PRIMARY KEY,
    state TEXT NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
-- Columns of their own: what runs in one does not in the other.
CREATE TABLE orders (
    id    INTEGER PRIMARY KEY,
    state TEXT NOT NULL DEFAULT 'new', -- qgen:status(charge) ready=new running=busy done=done
    files INTEGER NOT NULL DEFAULT 1   -- qgen:status(clean) ready=1 running=2 done=0
);
-- Each has rows of its own.
CREATE TABLE messages (
    id    INTEGER PRIMARY KEY,
    kind  TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=sent
);
-- Claims that run out: Recover of the one with the shorter time takes jobs of the other while they run.
CREATE TABLE items (
    id         INTEGER PRIMARY KEY,
    state      TEXT NOT NULL DEFAULT 'pending',
    claimed_at INTEGER
);
-- The shorter claim has run out when the longer would have: Recover there makes such a row ready there.
-- Rows of a queue that knows no time stay until then, and those that another takes by its claims until it does.
CREATE TABLE loads (
    id         INTEGER PRIMARY KEY,
    state      TEXT NOT NULL DEFAULT 'pending',
    claimed_at INTEGER
);
CREATE TABLE tasks (
    id         INTEGER PRIMARY KEY,
    state      TEXT NOT NULL DEFAULT 'new',
    claimed_at INTEGER
);
-- The same time and the same words: either Recover does the same.
CREATE TABLE twins (
    id         INTEGER PRIMARY KEY,
    state      TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    claimed_at INTEGER                      -- qgen:claimed as=epoch timeout=1h
);
