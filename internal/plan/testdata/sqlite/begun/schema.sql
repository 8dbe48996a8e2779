-- Jobs are claimed first and begun by a step of their own; the table lists their states in an order of its own.
-- A new one takes the oldest of its workflow away, beyond the last thousand.

-- qgen:queue jobs recover=start
CREATE TABLE jobs (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    workflow TEXT NOT NULL,
    status   TEXT NOT NULL DEFAULT 'READY' -- qgen:status ready=READY claimed=CLAIMED running=RUNNING done=SUCCESS|PENDING failed=FAILURE
             CHECK (status IN ('READY', 'CLAIMED', 'RUNNING', 'PENDING', 'SUCCESS', 'FAILURE')),
    made     DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX jobs_workflow ON jobs (workflow, made DESC);
