-- qgen:queue done=delete
CREATE TABLE background_task (
  id         serial NOT NULL PRIMARY KEY,
  task_name  varchar(190) NOT NULL,
  priority   integer NOT NULL, -- qgen:priority desc
  run_at     timestamptz NOT NULL, -- qgen:due; order 2
  attempts   integer NOT NULL, -- qgen:attempts up on=retry max=25
  failed_at  timestamptz NULL, -- qgen:status ready=null failed=now
  last_error text NOT NULL, -- qgen:error
  locked_by  varchar(64) NULL, -- qgen:worker
  locked_at  timestamp(0) NULL); -- qgen:claimed clock=utc timeout=1h
CREATE TABLE oneliner (id int PRIMARY KEY, state text NOT NULL); -- qgen:status ready=N done=D; order "lower(state)"; queue line
