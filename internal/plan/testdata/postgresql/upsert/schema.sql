-- What is asked for again begins anew; the row's lock is the claim.
-- qgen:queue builds strategy=hold done=delete failed=delete enqueue=update
CREATE TABLE builds (
    id           serial UNIQUE NOT NULL,         -- qgen:id; order 3
    name         text NOT NULL,
    version      text NOT NULL,
    attempt      integer DEFAULT 0 NOT NULL,     -- qgen:attempts up on=retry max=5; order 2; on update set 0
    priority     integer DEFAULT 0 NOT NULL,     -- qgen:priority asc
    last_attempt timestamptz,                    -- qgen:on retry set now; on update set null
    UNIQUE (name, version)
);

-- One page waits once. What runs or has ended keeps to itself, and more is asked of what waits.
-- qgen:queue pages enqueue=update key=pages_waiting
CREATE TABLE pages (
    id       uuid PRIMARY KEY,
    url      text NOT NULL,
    state    text NOT NULL DEFAULT 'new', -- qgen:status ready=new|again running=busy done=read failed=bad
    run_at   timestamptz NOT NULL,        -- qgen:due
    priority int NOT NULL DEFAULT 0,      -- qgen:priority desc; on update set "greatest(priority, {new}.priority)"
    tries    int NOT NULL DEFAULT 0,      -- qgen:attempts up on=claim max=3
    asked    int NOT NULL DEFAULT 1,      -- qgen:on update set +1
    since    timestamptz NOT NULL DEFAULT now(), -- qgen:enqueued
    host     text NOT NULL,               -- qgen:group limit=2
    origin   text,                        -- qgen:payload; on update set old
    note     jsonb,
    body     json NOT NULL
);
CREATE UNIQUE INDEX pages_waiting ON pages (lower(url), (note ->> 'lang')) WHERE state IN ('new', 'again');

-- What has ended is ready again, and who runs it is turned away.
-- qgen:queue excluded enqueue=update
CREATE TABLE excluded (
    site  int NOT NULL,
    path  varchar(40) NOT NULL,
    state text NOT NULL,                  -- qgen:status ready=new running=busy done=read; on update set "case state when 'read' then 'new' else {row}.state end"
    mark  uuid,                           -- qgen:token; on update set null
    hits  int NOT NULL,                   -- qgen:payload
    PRIMARY KEY (site, path)
);
