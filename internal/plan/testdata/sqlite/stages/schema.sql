-- Two queues of columns of their own: neither knows when the other is done with a row.
CREATE TABLE orders (
    id    INTEGER PRIMARY KEY,
    state TEXT NOT NULL,   -- qgen:status(charge) ready=new running=busy done=done failed=dead
    files INTEGER NOT NULL -- qgen:status(clean) ready=1 running=2 done=0
);
-- The second begins where the first fails; what the first has done is nobody else's.
CREATE TABLE letters (
    id    INTEGER PRIMARY KEY,
    state TEXT NOT NULL,           -- qgen:status(post) ready=new running=busy done=sent failed=lost; qgen:status(search) ready=lost running=sought done=found failed=gone
    tries INTEGER NOT NULL DEFAULT 0 -- qgen:attempts(post) max=3
);
-- Two queues that share a table: each has rows of its own.
-- qgen:where(mails) "kind = 'mail'"
-- qgen:where(texts) "kind = 'text'"
CREATE TABLE messages (
    id    INTEGER PRIMARY KEY,
    kind  TEXT NOT NULL,
    state TEXT NOT NULL            -- qgen:status ready=new running=busy done=sent
);
