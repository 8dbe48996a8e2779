-- A task is done when the last of its parts is.
-- qgen:queue tasks
CREATE TABLE tasks (
    id        bigint NOT NULL PRIMARY KEY,
    parent_id bigint,
    whole     boolean NOT NULL DEFAULT false,
    state     varchar(10) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=failed
    taken     bigint -- qgen:claimed as=epoch timeout=arg expired=fail
);
CREATE INDEX tasks_parent ON tasks (parent_id);
