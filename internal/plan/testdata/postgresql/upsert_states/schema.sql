-- What runs is changed, and its worker may be told apart by the version.
-- qgen:queue versioned enqueue=update
CREATE TABLE versioned (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL UNIQUE,
    body  text NOT NULL,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=bad
    rev   int NOT NULL DEFAULT 0       -- qgen:version
);

-- The same, and the worker is turned away.
-- qgen:queue renewed enqueue=update
CREATE TABLE renewed (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL UNIQUE,
    body  text NOT NULL,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    rev   int NOT NULL DEFAULT 0,      -- qgen:version; on update set +1
    until timestamptz                  -- qgen:lease length=5m expired=recover
);

-- Whatever has become of a job, it is ready again.
-- qgen:queue freed enqueue=update
CREATE TABLE freed (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL UNIQUE,
    body  text NOT NULL,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done; on update set new
    mark  uuid                         -- qgen:token
);

-- Others keep rows in the table, which are no jobs.
-- qgen:queue mixed enqueue=update
-- qgen:where "kind = 'mail'"
CREATE TABLE mixed (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL UNIQUE,
    kind  text NOT NULL,
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);

-- A claim moves the row to another table.
-- qgen:queue files done=delete enqueue=update key=files_name
CREATE TABLE files (
    id   bigint PRIMARY KEY,
    name text NOT NULL,
    size bigint NOT NULL,
    CONSTRAINT files_name UNIQUE (name)
);
CREATE TABLE files_acquired (
    id       bigint PRIMARY KEY,
    name     text NOT NULL,
    size     bigint NOT NULL,
    acquired timestamptz NOT NULL -- qgen:claimed timeout=5m
);

-- A claim is a row of a table beside.
-- qgen:queue letters enqueue=update done=delete
CREATE TABLE letters (
    id   bigserial PRIMARY KEY,
    mark text NOT NULL UNIQUE,
    body text NOT NULL
);

-- A claim is the end of a job.
-- qgen:queue pings strategy=pop enqueue=update
CREATE TABLE pings (
    host text PRIMARY KEY,
    port int NOT NULL
);

-- A job is claimed and begun, and fails when its tries are spent.
-- qgen:queue steps enqueue=update
CREATE TABLE steps (
    id    bigserial PRIMARY KEY,
    name  text NOT NULL,
    kind  text NOT NULL,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new claimed=taken running=busy done=done
    tries int NOT NULL DEFAULT 0       -- qgen:attempts up on=claim max=3; on update set 0
);
CREATE UNIQUE INDEX steps_open ON steps (name) WHERE state <> 'done';

-- Nobody would run such a job again.
-- qgen:queue stuck enqueue=update done=delete
CREATE TABLE stuck (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL UNIQUE,
    body  text NOT NULL,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy
    mark  uuid                         -- qgen:token; on update set null
);
