-- Indexes of the table whose predicates say in other words what a claim asks, or less.
CREATE TABLE mails (
    id       bigint PRIMARY KEY,
    status   text NOT NULL DEFAULT 'WAITING', -- qgen:status ready=RETRY|WAITING running=IN_PROCESS done=SENT failed=ERROR
    enqueued timestamptz NOT NULL,            -- qgen:order
    claimed  timestamptz                      -- qgen:claimed timeout=30m
);
CREATE INDEX mails_waiting ON mails (enqueued, id) WHERE status = 'WAITING' OR status = 'RETRY';

CREATE TABLE webhooks (
    id      bigint PRIMARY KEY,
    sent    boolean NOT NULL DEFAULT false, -- qgen:status ready=false done=true
    created timestamptz NOT NULL            -- qgen:order
);
CREATE INDEX webhooks_pending ON webhooks (created, id) WHERE sent = 'f';

-- The rows that run stand in the index as well; these alone in another one, which Recover reads.
CREATE TABLE runs (
    id      bigint PRIMARY KEY,
    state   text NOT NULL DEFAULT 'queued', -- qgen:status ready=queued running=busy done=done failed=failed
    queued  timestamptz NOT NULL,           -- qgen:order
    host    text,
    started timestamptz                     -- qgen:claimed timeout=30m
);
CREATE INDEX runs_hosts ON runs (host) WHERE state = 'busy';
CREATE INDEX runs_open ON runs (queued, id) WHERE state NOT IN ('done', 'failed');

-- Rows of runs that failed stand in the index, and stay: it does not serve.
CREATE TABLE builds (
    id      bigint PRIMARY KEY,
    state   text NOT NULL DEFAULT 'queued', -- qgen:status ready=queued running=busy done=done failed=failed
    queued  timestamptz NOT NULL            -- qgen:order
);
CREATE INDEX builds_undone ON builds (queued, id) WHERE state <> 'done';
