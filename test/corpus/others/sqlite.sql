-- Huey's task table in SQLite
-- qgen:queue huey strategy=pop
create table task (
  id integer not null primary key,
  queue text not null,                           -- qgen:topic
  data blob not null,                            -- qgen:payload
  priority real not null default 0.0             -- qgen:priority desc
);
create index if not exists task_priority_id on task (priority desc, id asc);

-- litequeue
-- qgen:queue litequeue
CREATE TABLE Queue (
  data TEXT NOT NULL,                            -- qgen:payload
  message_id TEXT NOT NULL,                      -- qgen:id
  status INTEGER NOT NULL,                       -- qgen:status ready=0 running=1 done=2 failed=3
  in_time INTEGER NOT NULL,                      -- qgen:enqueued as=epoch_ns
  lock_time INTEGER,                             -- qgen:claimed as=epoch_ns
  done_time INTEGER                              -- qgen:finished as=epoch_ns
);
CREATE INDEX TIdx ON Queue(message_id);
CREATE INDEX SIdx ON Queue(status);
