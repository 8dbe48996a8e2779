-- An index ends with the number of the row.
-- qgen:queue numbered
CREATE TABLE numbered (
    id    integer PRIMARY KEY,
    topic text NOT NULL,             -- qgen:topic
    state text NOT NULL DEFAULT 'r'  -- qgen:status ready=r running=x done=d
);
CREATE INDEX numbered_topic ON numbered (state, topic);

-- Here with the key, which takes its place.
-- qgen:queue keyed
CREATE TABLE keyed (
    id    text PRIMARY KEY,
    topic text NOT NULL,             -- qgen:topic
    state text NOT NULL DEFAULT 'r'  -- qgen:status ready=r running=x done=d
)  WITHOUT ROWID;
CREATE INDEX keyed_topic ON keyed (state, topic);

-- And here with a number that is not the key.
-- qgen:queue beside
CREATE TABLE beside (
    id    text PRIMARY KEY,
    topic text NOT NULL,             -- qgen:topic
    state text NOT NULL DEFAULT 'r'  -- qgen:status ready=r running=x done=d
);
CREATE INDEX beside_topic ON beside (state, topic);

-- The topic stands amid the order, which makes this server sort.
-- qgen:queue amid
CREATE TABLE amid (
    id    integer PRIMARY KEY,
    topic text NOT NULL,             -- qgen:topic
    grade int NOT NULL,              -- qgen:order 1
    state text NOT NULL DEFAULT 'r'  -- qgen:status ready=r running=x done=d
);
CREATE INDEX amid_rank ON amid (state, grade, topic, id);

-- The order is that in which rows were added, and every index ends with it.
-- qgen:queue added
-- qgen:order "rowid"
CREATE TABLE added (
    id       text PRIMARY KEY,
    topic    text NOT NULL,             -- qgen:topic
    priority int NOT NULL DEFAULT 0,    -- qgen:priority desc
    state    text NOT NULL DEFAULT 'r'  -- qgen:status ready=r running=x done=d
);

-- The last come first, and an index is read from its end; nothing but the state leads it.
-- qgen:queue latest
-- qgen:order "oid" desc
CREATE TABLE latest (
    id    text PRIMARY KEY,
    state text NOT NULL DEFAULT 'r'     -- qgen:status ready=r running=x done=d
);

-- This one rises and falls, and no index does so with the number of its rows.
-- qgen:queue turned
-- qgen:order "rowid" desc
CREATE TABLE turned (
    id       text PRIMARY KEY,
    priority int NOT NULL DEFAULT 0,    -- qgen:priority asc
    state    text NOT NULL DEFAULT 'r'  -- qgen:status ready=r running=x done=d
);

-- An index of the table begins with what the predicate of the advice says: without statistics the server would take that
-- one and sort. The advice begins with the same columns.
-- qgen:queue chores
CREATE TABLE chores (
    id      integer PRIMARY KEY,
    running boolean DEFAULT 0, -- qgen:status ready=0 running=1 done=0 failed=0
    ended   boolean DEFAULT 0, -- qgen:status ready=0 running=0 done=1 failed=0
    trace   text,              -- qgen:status ready=null running=null done=null failed~set; error
    next_at integer NOT NULL,  -- qgen:due as=epoch; order 1
    grade   int NOT NULL       -- qgen:order 2
);
CREATE INDEX chores_running_ended_trace ON chores (running, ended, trace);

-- Two values are not one, so that no column in front would have it taken.
-- qgen:queue drafts
CREATE TABLE drafts (
    id    integer PRIMARY KEY,
    grade int NOT NULL,              -- qgen:order 1
    state text NOT NULL DEFAULT 'r'  -- qgen:status ready=r|a running=x done=d; on retry set a
);
CREATE INDEX drafts_state ON drafts (state);

-- An index of the table gives the order by its predicate, and another begins with the status: without statistics
-- the server takes that one.
-- qgen:queue ranked
CREATE TABLE ranked (
    id       integer PRIMARY KEY,
    state    text NOT NULL,                -- qgen:status ready=r running=x done=d
    priority int NOT NULL DEFAULT 0,       -- qgen:priority desc
    made_at  integer NOT NULL DEFAULT 0    -- qgen:enqueued as=epoch; order 1
);
CREATE INDEX ranked_next ON ranked (priority DESC, made_at) WHERE state = 'r';
CREATE INDEX ranked_state ON ranked (state, made_at);
