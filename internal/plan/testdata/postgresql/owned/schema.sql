-- A stage gives back what its caller owns, one of these or all: the index of Recover leads to them.
CREATE TABLE tasks (
    id       serial PRIMARY KEY,
    owner_id integer,
    name     text NOT NULL,
    posted   timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE machines (
    id   serial PRIMARY KEY,
    seen timestamptz NOT NULL DEFAULT now()
);
