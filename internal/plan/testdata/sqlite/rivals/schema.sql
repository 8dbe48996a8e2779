-- Tables with an index on most columns, of which statistics make one look better than that in the order of
-- the queue. The first has the advised index already, by another name.
CREATE TABLE tasks (
    id        integer NOT NULL PRIMARY KEY AUTOINCREMENT,
    name      text NOT NULL,           -- qgen:topic list
    priority  integer NOT NULL,        -- qgen:priority desc
    run_at    integer NOT NULL,        -- qgen:due as=epoch
    attempts  integer NOT NULL,        -- qgen:attempts up on=retry max=25
    failed_at integer,                 -- qgen:status ready=null
    locked_by text,                    -- qgen:worker
    locked_at integer                  -- qgen:claimed as=epoch timeout=1h expired=claim
);
CREATE INDEX tasks_name ON tasks (name);
CREATE INDEX tasks_run_at ON tasks (run_at);
CREATE INDEX tasks_attempts ON tasks (attempts);
CREATE INDEX tasks_failed_at ON tasks (failed_at);
CREATE INDEX tasks_in_order ON tasks (failed_at, priority DESC, id, run_at, name) WHERE failed_at IS NULL;

-- Nothing gives the order yet, so that no statement of Claim names an index; Recover has one.
CREATE TABLE mails (
    id       integer PRIMARY KEY AUTOINCREMENT NOT NULL,
    queue    text NOT NULL,                   -- qgen:topic
    status   text DEFAULT 'pending' NOT NULL, -- qgen:status ready=pending|retry running=running failed=failed
    till     integer,                         -- qgen:lease length=5m as=epoch
    left_of  integer NOT NULL,                -- qgen:attempts down on=claim max=5
    priority integer DEFAULT 0 NOT NULL       -- qgen:priority asc
);
CREATE INDEX mails_queue ON mails (queue);
CREATE INDEX mails_status ON mails (status);
CREATE INDEX mails_till ON mails (till);
CREATE INDEX mails_left ON mails (left_of);

-- An argument in SQL may lead to fewer rows than the order does, by the index on it: nothing is named.
CREATE TABLE runs (
    id      integer PRIMARY KEY,
    account integer NOT NULL, -- qgen:payload
    state   text NOT NULL,    -- qgen:status ready=new running=busy done=done
    till    integer           -- qgen:lease as=epoch length=5m
);
CREATE INDEX runs_account ON runs (account);
CREATE INDEX runs_new ON runs (id) WHERE state = 'new';
CREATE INDEX runs_busy ON runs (till) WHERE state = 'busy';

-- One within a sub-query is compared with a column of its table, and leads to none of these.
CREATE TABLE accounts (id integer PRIMARY KEY, owner text NOT NULL);

-- Rows leave when they are taken: the table itself has the order, and another index leads to those that are due.
CREATE TABLE pings (
    id integer PRIMARY KEY,
    at integer NOT NULL -- qgen:due as=epoch
);
CREATE INDEX pings_at ON pings (at);
