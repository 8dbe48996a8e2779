-- At most two hooks of one tenant run at once; a hook of nobody is held back by none.
-- qgen:queue hooks
CREATE TABLE hooks (
    id        INTEGER PRIMARY KEY,
    tenant    TEXT, -- qgen:group limit=2 free='*'
    kind      TEXT NOT NULL, -- qgen:topic
    state     TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=dead
    until_at  INTEGER NULL, -- qgen:lease length=5m as=epoch
    weight    INTEGER DEFAULT 0 NOT NULL -- qgen:priority desc
);

-- The steps of one order are done one after the other.
-- qgen:queue steps
CREATE TABLE steps (
    id        INTEGER PRIMARY KEY,
    order_id  INTEGER NOT NULL, -- qgen:group fifo
    state     TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    due_at    INTEGER NULL, -- qgen:due as=epoch; order 1
    tries     INTEGER DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=5
    taken_at  INTEGER NULL -- qgen:claimed timeout=10m as=epoch
);

-- Jobs that are exclusive run alone in their case; the others as they come.
-- qgen:queue cases done=delete
CREATE TABLE cases (
    id        INTEGER PRIMARY KEY,
    case_id   INTEGER NOT NULL,
    alone     INTEGER NOT NULL,
    until_at  INTEGER NULL, -- qgen:lease length=5m expired=claim as=epoch
    owner_name TEXT NULL, -- qgen:worker
    rev       INTEGER DEFAULT 0 NOT NULL -- qgen:version
);
