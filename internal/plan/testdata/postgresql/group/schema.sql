-- At most two hooks of one tenant run at once; a hook of nobody is held back by none.
-- qgen:queue hooks
CREATE TABLE hooks (
    id        bigserial PRIMARY KEY,
    tenant    text, -- qgen:group limit=2 free=null|'*'
    kind      text NOT NULL, -- qgen:topic
    state     text DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=dead
    until_at  timestamptz NULL, -- qgen:lease length=5m
    weight    int DEFAULT 0 NOT NULL -- qgen:priority desc
);

-- The steps of one order are done one after the other.
-- qgen:queue steps
CREATE TABLE steps (
    id        bigserial PRIMARY KEY,
    order_id  int NOT NULL, -- qgen:group fifo
    state     text DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    due_at    timestamptz NULL, -- qgen:due; order 1
    tries     int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=5
    taken_at  timestamptz NULL -- qgen:claimed timeout=10m
);

-- Jobs that are exclusive run alone in their case; the others as they come.
-- qgen:queue cases done=delete
CREATE TABLE cases (
    id        bigserial PRIMARY KEY,
    case_id   int NOT NULL,
    alone     int NOT NULL,
    until_at  timestamptz NULL, -- qgen:lease length=5m expired=claim
    owner_name text NULL, -- qgen:worker
    rev       int DEFAULT 0 NOT NULL -- qgen:version
);

-- One row for each case: claims lock it.
CREATE TABLE app.files (
    id int PRIMARY KEY
);

-- A row that is deleted softly is none of the queue's, and blocks nobody.
-- qgen:queue lines
-- qgen:where "deleted = 0"
CREATE TABLE lines (
    id      bigserial PRIMARY KEY,
    target  text NOT NULL,                -- qgen:group limit=1
    state   text NOT NULL DEFAULT 'open', -- qgen:status ready=open running=busy done=over
    since   timestamptz NULL,             -- qgen:claimed timeout=5m
    deleted int NOT NULL DEFAULT 0
);

-- One build of a repository at a time, in the order of their kinds and of what they have left.
-- qgen:queue builds
-- qgen:order "CASE kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END", "weight - used" desc nulls=last
CREATE TABLE builds (
    id        bigserial PRIMARY KEY,
    repo      text NOT NULL, -- qgen:group limit=1
    kind      int NOT NULL,
    weight    int NOT NULL,
    used      int,
    state     text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=over failed=dead
);

-- A claim is for one repository, of which one pull runs at a time.
-- qgen:queue pulls
CREATE TABLE pulls (
    id        bigserial PRIMARY KEY,
    repo      text NOT NULL, -- qgen:topic; group limit=1
    weight    int NOT NULL, -- qgen:priority desc
    state     text DEFAULT 'new' NOT NULL -- qgen:status ready=new running=busy done=over failed=dead
);

-- An index with the state among its columns finds the running rows of a group and the first that wait.
-- qgen:queue events done=delete
CREATE TABLE events (
    id        bigserial PRIMARY KEY,
    host_id   int NOT NULL, -- qgen:group limit=1
    kind      text NOT NULL, -- qgen:group limit=1
    busy      boolean NOT NULL DEFAULT false, -- qgen:status ready=false running=true
    made_at   timestamptz -- qgen:enqueued; order 1
);
CREATE INDEX events_of_hosts ON events (host_id, kind, busy, made_at);
