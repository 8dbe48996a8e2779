-- So many items of a queue wait at most.
-- qgen:queue items
CREATE TABLE items (
    id       number(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    queue_id varchar2(100) NOT NULL,
    data     varchar2(100) NOT NULL,
    status   varchar(20) DEFAULT 'pending' NOT NULL, -- qgen:status ready=pending running=in_progress done=completed failed=failed
    since    timestamp(6) with time zone -- qgen:claimed timeout=1h
);
CREATE INDEX items_queue ON items (queue_id, status);

-- One run of a schedule is added where it is not stopped, and none is newer than what the caller has seen.
-- qgen:queue runs
CREATE TABLE runs (
    id      number(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    cron    number(9) NOT NULL,
    created timestamp(6) with time zone NOT NULL, -- qgen:enqueued
    status  varchar(20) DEFAULT 'wait' NOT NULL, -- qgen:status ready=wait running=doing done=done failed=failed
    since   timestamp(6) with time zone -- qgen:claimed timeout=1h
);
CREATE INDEX runs_cron ON runs (cron, status);

CREATE TABLE crons (
    id     number(9) PRIMARY KEY,
    status varchar(20) NOT NULL
);

-- A tenant that is not active has no mails, and none twice.
-- qgen:queue mails enqueue=absent done=delete failed=delete
CREATE TABLE mails (
    tenant  number(9) NOT NULL,
    message varchar2(100) NOT NULL,
    body    varchar2(100) NOT NULL,
    till    timestamp(6) with time zone, -- qgen:lease length=5m
    PRIMARY KEY (tenant, message)
);

CREATE TABLE tenants (
    id     number(9) PRIMARY KEY,
    active number(1) DEFAULT 1 NOT NULL
);
