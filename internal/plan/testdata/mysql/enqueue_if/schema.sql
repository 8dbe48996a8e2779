-- So many items of a queue wait at most.
-- qgen:queue items
CREATE TABLE items (
    id       bigint AUTO_INCREMENT PRIMARY KEY,
    queue_id varchar(100) NOT NULL,
    data     varchar(100) NOT NULL,
    status   varchar(20) NOT NULL DEFAULT 'pending', -- qgen:status ready=pending running=in_progress done=completed failed=failed
    since    datetime(6) -- qgen:claimed timeout=1h
);
CREATE INDEX items_queue ON items (queue_id, status);

-- One run of a schedule is added where it is not stopped, and none is newer than what the caller has seen.
-- qgen:queue runs enqueue=absent like="cron" among=ready
CREATE TABLE runs (
    id      bigint AUTO_INCREMENT PRIMARY KEY,
    cron    int NOT NULL,
    created datetime(6) NOT NULL, -- qgen:enqueued
    status  varchar(20) NOT NULL DEFAULT 'wait', -- qgen:status ready=wait running=doing done=done failed=failed
    since   datetime(6) -- qgen:claimed timeout=1h
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
    message varchar(100) NOT NULL,
    body    varchar(100) NOT NULL,
    till    datetime(6), -- qgen:lease length=5m
    PRIMARY KEY (tenant, message)
);

CREATE TABLE tenants (
    id     int PRIMARY KEY,
    active boolean NOT NULL DEFAULT true
);
