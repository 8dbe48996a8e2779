-- qgen:queue messages strategy=pop
CREATE TABLE kombu_message (
  id INTEGER NOT NULL PRIMARY KEY,
  visible BOOLEAN,          -- qgen:status ready=true done=false
  timestamp DATETIME,       -- qgen:enqueued clock=utc as=text:'2006-01-02 15:04:05.000000'; order 1
  payload TEXT NOT NULL,    -- qgen:payload
  version SMALLINT NOT NULL, -- qgen:version
  queue_id INTEGER          -- qgen:topic
);
