-- Fail writes what tells whether a row is ready, and Stats counts by what needs no argument.
CREATE TABLE crons (
    id      INTEGER PRIMARY KEY,
    running INTEGER NOT NULL DEFAULT 0,
    result  TEXT,
    again   INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0,
    host    TEXT,
    next    INTEGER
);
-- SQL says of a new row whether it is ready.
CREATE TABLE audits (
    id        INTEGER PRIMARY KEY,
    processed INTEGER,
    claimed   INTEGER
);
