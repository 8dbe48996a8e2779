-- Jobs that are not added twice, where no unique key tells.
-- qgen:queue tasks enqueue=absent like="kind, target" among=ready|running
CREATE TABLE tasks (
    id     bigserial PRIMARY KEY,
    kind   text NOT NULL,
    target int,
    state  text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done failed=failed
);
-- qgen:queue files enqueue=absent like=path done=delete failed=delete
CREATE TABLE files (
    id    bigserial PRIMARY KEY,
    path  text NOT NULL,
    till  timestamptz -- qgen:lease length=5m
);
