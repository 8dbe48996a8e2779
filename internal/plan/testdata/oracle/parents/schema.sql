-- A task is done when the last of its parts is.
-- qgen:queue tasks
CREATE TABLE tasks (
    id        number(19) PRIMARY KEY,
    parent_id number(19),
    whole     number(1) DEFAULT 0 NOT NULL,
    state     varchar2(10) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=done failed=failed
    taken     timestamp with time zone -- qgen:claimed timeout=arg expired=fail
);
CREATE INDEX tasks_parent ON tasks (parent_id);
