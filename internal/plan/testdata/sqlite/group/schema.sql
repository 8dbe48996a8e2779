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

-- One build of a repository at a time, in the order of their kinds and of what they have left.
-- qgen:queue builds
-- qgen:order "CASE kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END", "weight - used" desc nulls=last
CREATE TABLE builds (
    id        INTEGER PRIMARY KEY,
    repo      TEXT NOT NULL, -- qgen:group limit=1
    kind      INTEGER NOT NULL,
    weight    INTEGER NOT NULL,
    used      INTEGER,
    state     TEXT NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=over failed=dead
);

-- One after the other, by an expression.
-- qgen:queue stages done=delete
-- qgen:order "kind = 'last'"
CREATE TABLE stages (
    id        INTEGER PRIMARY KEY,
    order_id  INTEGER NOT NULL, -- qgen:group fifo
    kind      TEXT NOT NULL,
    state     TEXT NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy failed=dead
);

-- An order in which a row has no place.
-- qgen:queue draws
-- qgen:order "abs(random() % weight)"
CREATE TABLE draws (
    id        INTEGER PRIMARY KEY,
    tenant    INTEGER NOT NULL, -- qgen:group limit=1
    weight    INTEGER NOT NULL,
    state     TEXT NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=over failed=dead
);

-- A claim is for one repository, of which one pull runs at a time.
-- qgen:queue pulls
CREATE TABLE pulls (
    id        INTEGER PRIMARY KEY,
    repo      TEXT NOT NULL, -- qgen:topic; group limit=1
    weight    INTEGER NOT NULL, -- qgen:priority desc
    state     TEXT NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=over failed=dead
);
