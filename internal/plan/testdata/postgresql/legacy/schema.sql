-- qgen:queue jobs
CREATE TABLE jobs (
    id        bigserial PRIMARY KEY,
    state     char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=C failed=E
    till      timestamptz, -- qgen:lease length=5m
    tries     int NOT NULL DEFAULT 0, -- qgen:attempts up on=claim max=5
    kind      text NOT NULL, -- qgen:ignore
    picked_by text -- qgen:ignore
);

-- Rows that are held by their locks.
-- qgen:queue letters done=delete
CREATE TABLE letters (
    id   bigserial PRIMARY KEY,
    body text NOT NULL
);

-- Rows that stay when they are done.
-- qgen:queue slips strategy=hold
CREATE TABLE slips (
    id   bigserial PRIMARY KEY,
    sent timestamptz, -- qgen:finished
    body text NOT NULL
);

-- Claims that write nothing.
-- qgen:queue parts strategy=partition done=delete
CREATE TABLE parts (
    id    bigserial PRIMARY KEY,
    slot  int NOT NULL, -- qgen:shard
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new
    body  text NOT NULL
);

-- Claims beside the table.
-- qgen:queue notes
CREATE TABLE notes (
    id   bigserial PRIMARY KEY,
    sent timestamptz, -- qgen:finished
    body text NOT NULL
);

-- Rows that a claim deletes.
-- qgen:queue moments strategy=pop
CREATE TABLE moments (
    id   bigserial PRIMARY KEY,
    body text NOT NULL
);

-- Rows that are only added.
-- qgen:queue events
CREATE TABLE events (
    id   bigserial PRIMARY KEY, -- qgen:seq
    body text NOT NULL
);

-- Jobs that are reserved before they begin.
-- qgen:queue reserved
CREATE TABLE reserved (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'N', -- qgen:status ready=N claimed=A running=R done=D
    till  timestamptz,               -- qgen:lease length=5m
    body  text NOT NULL
);

-- An owner and the time at which it took the row.
-- qgen:queue owned done=delete
CREATE TABLE owned (
    id    bigserial PRIMARY KEY,
    owner text,        -- qgen:worker
    ts    timestamptz  -- qgen:claimed
);
CREATE VIEW owned_free AS SELECT id FROM owned WHERE owner IS NULL;

-- A token that each claim of the old program writes anew as well.
-- qgen:queue stamped done=delete
CREATE TABLE stamped (
    id    bigserial PRIMARY KEY,
    free  boolean NOT NULL DEFAULT true, -- qgen:status ready=true running=false
    till  timestamptz,                   -- qgen:lease length=5m expired=claim
    mark  text NOT NULL                  -- qgen:token
);
