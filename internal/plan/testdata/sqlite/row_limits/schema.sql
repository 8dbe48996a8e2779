-- No index leads to claims that ran out where each row says by itself how long one is good.

-- An index of the table has the rows that somebody has.
-- qgen:queue kept
CREATE TABLE kept (
    id    INTEGER PRIMARY KEY,
    state TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=done
    every INTEGER DEFAULT 60 NOT NULL,
    seen  INTEGER -- qgen:heartbeat as=epoch timeout=every unit=s
);
CREATE INDEX kept_state ON kept (state, seen);

-- SQL that reads nothing of the row is one time for all.
-- qgen:queue alike
CREATE TABLE alike (
    id    INTEGER PRIMARY KEY,
    state TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=done
    seen  INTEGER -- qgen:heartbeat as=epoch timeout="(select s.patience from settings s where s.name = 'alike')" unit=s
);
CREATE TABLE settings (name TEXT PRIMARY KEY, patience INTEGER NOT NULL);

-- Rows that nobody has have no time.
-- qgen:queue untold
CREATE TABLE untold (
    id    INTEGER PRIMARY KEY,
    ended INTEGER, -- qgen:status ready=null running=null done=now as=epoch
    every INTEGER DEFAULT 60 NOT NULL,
    seen  INTEGER -- qgen:heartbeat as=epoch timeout=every unit=s expired=recover; claimed as=epoch
);

-- Several values say that somebody has a row, and the claim's index does not begin with them.
-- qgen:queue flagged
CREATE TABLE flagged (
    id    INTEGER PRIMARY KEY,
    state TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy|stopping done=done; on renew set old
    open  INTEGER DEFAULT 1 NOT NULL,
    every INTEGER DEFAULT 60 NOT NULL,
    seen  INTEGER -- qgen:heartbeat as=epoch timeout=every unit=s
);
CREATE INDEX flagged_open ON flagged (open, id);
