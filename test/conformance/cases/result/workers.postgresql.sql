-- The workers of the queue say here that they are alive.
CREATE TABLE processes (
    name       text NOT NULL PRIMARY KEY,
    seen_at    timestamptz NOT NULL,
    retired    boolean NOT NULL
);
