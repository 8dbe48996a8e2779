-- A job that ended keeps none out, one that somebody has does, begun or not.
-- qgen:queue scans enqueue=absent like="tracker"
CREATE TABLE scans (
    id      integer PRIMARY KEY,
    tracker varchar(20),
    state   varchar(10) NOT NULL -- qgen:status ready=waiting claimed=scheduled running=running done=success failed=failed
);

-- A row that somebody has is of no state here, where rows are only taken away, and keeps none out.
-- qgen:queue drops strategy=pop done=delete purge=none enqueue=absent like="hash" among=ready
CREATE TABLE drops (
    id        integer PRIMARY KEY,
    hash      varchar(40) NOT NULL,
    locked_by varchar(64) -- qgen:status ready=null
);

-- qgen:queue calls strategy=hold done=delete failed=delete enqueue=absent like="hash"
CREATE TABLE calls (
    id    integer PRIMARY KEY,
    hash  varchar(40) NOT NULL,
    state varchar(10) NOT NULL -- qgen:status ready=new
);

-- A claim that has run out is one of the two states, so that the clock is not asked.
-- qgen:queue loads enqueue=absent like="hash"
CREATE TABLE loads (
    id    integer PRIMARY KEY,
    hash  varchar(40) NOT NULL,
    state varchar(10) NOT NULL, -- qgen:status ready=new running=busy done=done
    till  integer -- qgen:lease length=5m expired=claim as=epoch
);

-- qgen:queue spent enqueue=absent like="hash"
CREATE TABLE spent (
    id    integer PRIMARY KEY,
    hash  varchar(40) NOT NULL,
    state varchar(10) NOT NULL, -- qgen:status ready=new running=busy done=done
    tries int NOT NULL -- qgen:attempts up max=5
);

-- Where two columns tell the states, each state stands by itself.
-- qgen:queue pairs enqueue=absent like="hash" among=running|done
CREATE TABLE pairs (
    id    integer PRIMARY KEY,
    hash  varchar(40) NOT NULL,
    taken int NOT NULL, -- qgen:status ready=0 running=1 done=0 failed=0
    ended int NOT NULL  -- qgen:status ready=0 running=0 done=1 failed=2
);

-- qgen:queue named enqueue=absent like="kind, name" among=ready nulls=distinct
CREATE TABLE named (
    id    integer PRIMARY KEY,
    kind  int NOT NULL,
    name  varchar(40),
    state varchar(10) NOT NULL -- qgen:status ready=new running=busy done=done
);
CREATE INDEX named_waiting ON named (kind, name) WHERE state = 'new' AND name IS NOT NULL;

-- The index leaves out rows that a comparison with null finds.
-- qgen:queue once enqueue=absent like="key" among=ready
CREATE TABLE once (
    id    integer PRIMARY KEY,
    key   varchar(40),
    state varchar(10) NOT NULL -- qgen:status ready=new running=busy done=done
);
CREATE INDEX once_key ON once (key) WHERE state = 'new' AND key IS NOT NULL;

-- Another table tells which jobs have failed: they keep others out.
CREATE TABLE mails (
    id  integer PRIMARY KEY,
    key varchar(40) NOT NULL
);

-- A job that runs is a row of another table, and keeps none out.
-- qgen:queue files done=delete failed=delete enqueue=absent like="path"
CREATE TABLE files (
    id   integer PRIMARY KEY AUTOINCREMENT,
    path varchar(200) NOT NULL
);
CREATE TABLE files_running (
    id   integer PRIMARY KEY,
    path varchar(200) NOT NULL,
    mark text NOT NULL -- qgen:token
);
