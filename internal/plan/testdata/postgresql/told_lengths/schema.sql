-- How long a claim is good, SQL over the row tells.

-- A worker shows itself every so many seconds as the row says.
-- qgen:queue syncs
CREATE TABLE syncs (
    id    bigserial PRIMARY KEY,
    state text DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=done failed=failed
    every int DEFAULT 60 NOT NULL,
    seen  timestamptz -- qgen:heartbeat timeout="every + 300" unit=s expired=fail
);

-- The lease is longer for what is large; without a size there is none.
-- qgen:queue uploads done=delete
CREATE TABLE uploads (
    id    bigserial PRIMARY KEY,
    size_mb int,
    until_at timestamptz -- qgen:lease length="size_mb * 2 + 1" unit=m
);

-- The row has an interval, and its kind has a longer one.
-- qgen:queue scans
CREATE TABLE scans (
    id    bigserial PRIMARY KEY,
    state text DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=done
    kind  text NOT NULL,
    every interval NOT NULL,
    taken timestamptz -- qgen:claimed timeout="(select k.patience from kinds k where k.kind = {row}.kind) + every"
);
CREATE TABLE kinds (kind text PRIMARY KEY, patience interval NOT NULL);
