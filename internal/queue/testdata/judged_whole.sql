-- A note reads all that is said of a state.

-- A row that waits has no start, and one that runs has.
CREATE TABLE backfills (
    id      bigint PRIMARY KEY,
    started timestamptz,
    next    timestamptz
);

-- What Redrive leaves as it is says nothing of one more try.
CREATE TABLE tries (
    id    bigint PRIMARY KEY,
    state text NOT NULL,
    left_ int NOT NULL
);

-- The rows that go with a claim are told by SQL that asks their state.
CREATE TABLE events (
    id   bigint PRIMARY KEY,
    busy boolean NOT NULL,
    obj  bigint NOT NULL,
    at   timestamptz NOT NULL
);
