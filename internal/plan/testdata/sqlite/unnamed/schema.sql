-- The index of the order is that of a key, whose name SQLite makes up and may make up otherwise: no statement
-- names it.
CREATE TABLE mails (
    id    text NOT NULL PRIMARY KEY, -- qgen:order 1
    till  integer -- qgen:lease length=5m as=epoch
);
CREATE INDEX mails_till ON mails (till);

-- No other could be taken, so there is nothing to warn of.
CREATE TABLE notes (
    id    text NOT NULL PRIMARY KEY, -- qgen:order 1
    till  integer -- qgen:lease length=5m as=epoch
);

-- A unique index has a name.
CREATE TABLE texts (
    id    text NOT NULL, -- qgen:id; order 1
    till  integer -- qgen:lease length=5m as=epoch
);
CREATE UNIQUE INDEX texts_id ON texts (id);
CREATE INDEX texts_till ON texts (till);

-- That of a unique key is told as such, also where it only comes near.
CREATE TABLE faxes (
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=sent
    no    int NOT NULL, -- qgen:order 1
    till  integer, -- qgen:lease length=5m expired=recover as=epoch
    id    text NOT NULL PRIMARY KEY,
    UNIQUE (state, no)
);
