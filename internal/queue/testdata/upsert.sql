-- qgen:queue builds enqueue=update key=builds_name_version
CREATE TABLE builds (
    id       bigserial PRIMARY KEY,
    name     text NOT NULL,
    version  text NOT NULL,
    status   text NOT NULL DEFAULT 'todo', -- qgen:status ready=todo running=busy done=done; on update set "case {row}.status when 'done' then 'todo' else {row}.status end"
    priority int NOT NULL DEFAULT 0,       -- qgen:priority asc; on update set "least({row}.priority, {new} . priority)"
    tries    int NOT NULL DEFAULT 0,       -- qgen:attempts up on=claim max=5; on update set 0
    rev      int NOT NULL DEFAULT 0,       -- qgen:version
    origin   text,                         -- qgen:on update set old
    again    int NOT NULL DEFAULT 0,       -- qgen:on update set +1
    asked    timestamptz,                  -- qgen:on enqueue,update set now
    CONSTRAINT builds_name_version UNIQUE (name, version)
);

-- What is written to the scope leaves a row in it, so that all operations ask for it.
-- qgen:queue scoped enqueue=update; where "scope = 0 and (kind in ('a', 'b')) and kept is null and level > 2"
CREATE TABLE scoped (
    id    bigserial PRIMARY KEY,
    name  text NOT NULL UNIQUE,
    state text NOT NULL DEFAULT 'todo', -- qgen:status ready=todo running=busy done=done
    seen  timestamptz,                  -- qgen:claimed timeout=5m
    scope int,                          -- qgen:on enqueue,update set 0
    kind  text,                         -- qgen:on enqueue,update set b
    kept  text,                         -- qgen:on update set null
    level int                           -- qgen:on update set 3
);
-- Here it may leave the row outside.
-- qgen:queue unscoped enqueue=update; where "scope = 0"
CREATE TABLE unscoped (
    id    bigserial PRIMARY KEY,
    name  text NOT NULL UNIQUE,
    state text NOT NULL DEFAULT 'todo', -- qgen:status ready=todo running=busy done=done
    seen  timestamptz,                  -- qgen:claimed timeout=5m
    scope int                           -- qgen:on update set 1
);
