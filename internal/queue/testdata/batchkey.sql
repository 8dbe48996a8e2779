-- qgen:queue tasks
CREATE TABLE tasks (
  id     bigserial PRIMARY KEY,
  data   text,
  status varchar(36) NOT NULL DEFAULT 'ready' -- qgen:status ready=ready running=token done=done failed=error
);
