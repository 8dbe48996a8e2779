-- Rows that are null in a column have one value there: behind it an index gives their order.
-- qgen:queue checks
CREATE TABLE checks (
    id    integer PRIMARY KEY,
    added text,                       -- qgen:status ready=null running=null done=now
    over  integer NOT NULL DEFAULT 0  -- qgen:status ready=0 running=1 done=2
);
CREATE INDEX checks_added ON checks (added, over);
-- The key only tells apart what is of one time: the server sorts these, and no more.
-- qgen:queue mails
CREATE TABLE mails (
    id     integer PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    due_at integer NOT NULL,            -- qgen:due as=epoch; order 1
    kind   text NOT NULL
);
CREATE INDEX mails_due ON mails (state, due_at, kind);
-- What is written when a job begins and set to null when it is given up is that of running rows alone.
-- qgen:queue builds
CREATE TABLE builds (
    id        integer PRIMARY KEY AUTOINCREMENT,
    priority  integer NOT NULL DEFAULT 0, -- qgen:priority asc
    worker    integer,                    -- qgen:status ready=null; worker free=null
    last_ping datetime                    -- qgen:heartbeat timeout=9m expired=recover; on retry,release,recover set null
);
CREATE INDEX builds_ping ON builds (last_ping);
