-- The workers of the queue say here that they are alive.
CREATE TABLE processes (
    name       varchar(64) NOT NULL PRIMARY KEY,
    seen_at    datetime(6) NOT NULL,
    retired    boolean NOT NULL
);
