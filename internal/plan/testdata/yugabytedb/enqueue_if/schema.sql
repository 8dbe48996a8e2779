-- So many items of a queue wait at most.
-- qgen:queue items
CREATE TABLE items (
    id       bigserial PRIMARY KEY,
    queue_id text NOT NULL,
    data     text NOT NULL,
    status   varchar(20) NOT NULL DEFAULT 'pending', -- qgen:status ready=pending running=in_progress done=completed failed=failed
    since    timestamptz -- qgen:claimed timeout=1h
);
CREATE INDEX items_queue ON items (queue_id, status);

-- One run of a schedule is added where it is not stopped, and none is newer than what the caller has seen.
-- qgen:queue runs enqueue=absent like="cron" among=ready
CREATE TABLE runs (
    id      bigserial PRIMARY KEY,
    cron    int NOT NULL,
    created timestamptz NOT NULL, -- qgen:enqueued
    status  varchar(20) NOT NULL DEFAULT 'wait', -- qgen:status ready=wait running=doing done=done failed=failed
    since   timestamptz -- qgen:claimed timeout=1h
);
CREATE INDEX runs_cron ON runs (cron, status);

CREATE TABLE crons (
    id     int PRIMARY KEY,
    status varchar(20) NOT NULL
);

-- A tenant that is not active has no mails, and none twice.
-- qgen:queue mails enqueue=absent done=delete failed=delete
CREATE TABLE mails (
    tenant  int NOT NULL,
    message text NOT NULL,
    body    text NOT NULL,
    till    timestamptz, -- qgen:lease length=5m
    PRIMARY KEY (tenant, message)
);

CREATE TABLE tenants (
    id     int PRIMARY KEY,
    active boolean NOT NULL DEFAULT true
);
