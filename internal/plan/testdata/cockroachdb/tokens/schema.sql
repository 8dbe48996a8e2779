-- No two rows may have one token, so each row of a claim gets its own.
CREATE TABLE messages (
    id     bigserial PRIMARY KEY,
    handle char(32) UNIQUE,   -- qgen:token
    taken  timestamptz,       -- qgen:claimed timeout=30s
    body   text
);

-- Nor in one state, whatever the case of the letters.
CREATE TABLE letters (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    handle text                         -- qgen:token
);
CREATE UNIQUE INDEX letters_handle ON letters (lower(handle)) WHERE state = 'busy';

-- Rows differ in the id, whatever the token.
CREATE TABLE apart (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    handle uuid,                        -- qgen:token
    UNIQUE (handle, id)
);

-- The token stands in the table of the jobs that run.
CREATE TABLE waiting (
    id   bigserial PRIMARY KEY,
    body text
);
CREATE TABLE active (
    id     bigint PRIMARY KEY,
    body   text,
    handle uuid NOT NULL UNIQUE,  -- qgen:token
    taken  timestamptz NOT NULL   -- qgen:claimed timeout=30s
);
