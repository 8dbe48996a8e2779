-- A URL is fetched once, whatever has become of it.
-- qgen:queue urls enqueue=absent
CREATE TABLE urls (
    id     bigserial PRIMARY KEY,
    url    text NOT NULL UNIQUE,
    status text NOT NULL DEFAULT 'todo' -- qgen:status ready=todo running=in_progress done=done
);

-- What waits already is not asked for again; a task that runs or has ended keeps none out.
-- qgen:queue tasks enqueue=absent
CREATE TABLE tasks (
    id          text NOT NULL PRIMARY KEY DEFAULT gen_random_uuid(),
    fingerprint text NOT NULL,
    mark        uuid UNIQUE,            -- qgen:token
    state       text NOT NULL DEFAULT 'pending', -- qgen:status ready=pending|retry running=running done=processed
    payload     jsonb NOT NULL
);
CREATE UNIQUE INDEX tasks_fingerprint ON tasks (fingerprint) WHERE state IN ('pending', 'retry');
CREATE UNIQUE INDEX tasks_running ON tasks (fingerprint) WHERE state = 'running';

-- The caller gives the key; what belongs to a page is added with it, and only with it.
-- qgen:queue pages enqueue=absent
CREATE TABLE pages (
    site  int NOT NULL,
    path  varchar(40) NOT NULL,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=read
    PRIMARY KEY (site, path)
);

-- Rows are only added.
-- qgen:queue visits enqueue=absent
CREATE TABLE visits (
    id   bigserial PRIMARY KEY, -- qgen:seq settle=0s
    mark varchar(40) NOT NULL UNIQUE
);

-- Nothing tells which row is new.
-- qgen:queue heaps enqueue=absent id=row strategy=hold done=delete
CREATE TABLE heaps (
    name varchar(40) UNIQUE
);

CREATE TABLE journal (
    what varchar(40) NOT NULL,
    site int NOT NULL
);

-- All columns are the key, and a job that is held keeps its like out.
-- qgen:queue changes enqueue=absent strategy=hold done=delete
CREATE TABLE changes (
    id   bigserial PRIMARY KEY,
    item bigint NOT NULL,
    kind int NOT NULL,
    UNIQUE (item, kind)
);

-- A job that has ended leaves the key by its predicate; another key stays as it is.
-- qgen:queue notices enqueue=absent strategy=hold
CREATE TABLE notices (
    id   bigserial PRIMARY KEY,
    item bigint NOT NULL,
    body text NOT NULL UNIQUE,
    note text,
    sent boolean NOT NULL DEFAULT false -- qgen:status ready=false done=true
);
CREATE UNIQUE INDEX notices_waiting ON notices (item) WHERE sent = false;
