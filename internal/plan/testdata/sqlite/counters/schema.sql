-- Several jobs of one call share a row of another table, in which they are counted.
-- qgen:queue letters
CREATE TABLE letters (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    address text NOT NULL,
    weight    integer NOT NULL,
    state   text DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=lost
    tries   integer DEFAULT 0 NOT NULL, -- qgen:attempts max=3
    holder  text -- qgen:worker
);

CREATE TABLE totals (
    address  text NOT NULL PRIMARY KEY,
    kind     text DEFAULT 'letter' NOT NULL,
    queued   integer DEFAULT 0 NOT NULL,
    weight     integer DEFAULT 0 NOT NULL,
    last_id  integer,
    taken_at text
);

CREATE TABLE workers (name text NOT NULL PRIMARY KEY, done integer DEFAULT 0 NOT NULL);

-- A row here belongs to one job.
CREATE TABLE tries (letter_id integer NOT NULL PRIMARY KEY, n integer DEFAULT 0 NOT NULL);
