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
