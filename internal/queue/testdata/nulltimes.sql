-- The state is which of two times is null.
CREATE TABLE tasks (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  created_at  timestamptz NOT NULL DEFAULT now(), -- qgen:enqueued
  locked_at   timestamptz,                        -- qgen:claimed timeout=10m
  finished_at timestamptz,                        -- qgen:finished
  args        jsonb                               -- qgen:payload type=example.com/app/task.Args
);
-- The same, said by the status of columns.
CREATE TABLE tasks_status (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  locked_at   timestamptz, -- qgen:status ready=null running=now
  finished_at timestamptz, -- qgen:status ready~null running~null done=now
  failed_at   timestamptz, -- qgen:status ready=null running~null done~null failed=now
  args        jsonb
);
