-- A task is done when the last of its parts is.
-- qgen:queue tasks
CREATE TABLE tasks (
    id        bigint PRIMARY KEY,
    parent_id bigint,
    whole     bit NOT NULL DEFAULT 0,
    state     varchar(10) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=failed
    taken     datetime2 -- qgen:claimed clock=utc timeout=arg expired=fail
);
CREATE INDEX tasks_parent ON tasks (parent_id);
