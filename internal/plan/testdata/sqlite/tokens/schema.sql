-- No two rows may have one token, so each row of a claim gets its own.
CREATE TABLE messages (
    id     integer PRIMARY KEY,
    handle text UNIQUE,   -- qgen:token
    taken  integer,       -- qgen:claimed as=epoch timeout=30s
    body   text
);
