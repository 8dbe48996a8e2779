-- How long a claim is good, SQL over the row tells.

-- A worker shows itself every so many seconds as the row says.
-- qgen:queue syncs
CREATE TABLE syncs (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=done failed=failed
    every INTEGER DEFAULT 60 NOT NULL,
    seen  INTEGER -- qgen:heartbeat as=epoch_ms timeout="every + 300" unit=s expired=fail
);

-- The lease is longer for what is large; without a size there is none.
-- qgen:queue uploads done=delete
CREATE TABLE uploads (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    size_mb INTEGER,
    until_at INTEGER -- qgen:lease as=epoch_ms length="size_mb * 2 + 1" unit=m
);

-- How long a job may take, its kind says.
-- qgen:queue scans
CREATE TABLE scans (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=done
    kind  TEXT NOT NULL,
    taken INTEGER -- qgen:claimed as=epoch_ms timeout="(select k.patience from kinds k where k.kind = {row}.kind)"
);
CREATE TABLE kinds (kind TEXT PRIMARY KEY, patience INTEGER NOT NULL);
