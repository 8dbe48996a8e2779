-- A status may be part of the key, and a step may write another of its values than the first.
-- qgen:queue
CREATE TABLE task (
    id          uuid NOT NULL,
    status      text NOT NULL, -- qgen:status ready=new|retry running=running done=completed failed=failed; on retry set 'retry'
    retries     int NOT NULL,  -- qgen:attempts up on=retry max=3
    modified_at timestamptz,   -- qgen:heartbeat timeout=5m
    PRIMARY KEY (id, status)
);
