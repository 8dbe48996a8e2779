-- Columns that take few values, others than the test of the package would make up.

-- qgen:queue parcels
CREATE TABLE parcels (
    depot   text NOT NULL CHECK (depot IN ('north', 'south')),   -- qgen:topic
    size    text NOT NULL CHECK (size IN ('S', 'M', 'L')),
    no      integer NOT NULL CHECK (no BETWEEN -5000 AND 7),
    kind    text NOT NULL,                                       -- qgen:topic not
    grade   integer NOT NULL CHECK (grade > 3 AND grade < 6),    -- qgen:order 1
    weight  integer NOT NULL DEFAULT 10 CHECK (weight >= 10),
    code    text NOT NULL DEFAULT 'x' UNIQUE CHECK (code NOT LIKE '% %'),
    tag     text NOT NULL UNIQUE CHECK (tag GLOB '[A-Z]-[0-9]*' AND length(tag) <= 8),
    link    text NOT NULL CHECK (link LIKE 'http%'),
    state   text NOT NULL DEFAULT 'N',                           -- qgen:status ready=N running=A done=C
    mark    text,                                                -- qgen:token
    due     integer NOT NULL DEFAULT (unixepoch() + 3600),       -- qgen:due as=epoch
    PRIMARY KEY (depot, size, no)
);

-- A job is ready when somebody has paid for it, which only its caller sees to.
-- qgen:queue bills
CREATE TABLE bills (
    id      integer PRIMARY KEY,
    holder  integer NOT NULL REFERENCES payers (id),
    state   text NOT NULL DEFAULT 'N'                            -- qgen:status ready=N running=A done=C
);
CREATE TABLE payers (id integer PRIMARY KEY, paid integer NOT NULL);
