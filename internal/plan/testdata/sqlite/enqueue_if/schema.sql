-- So many items of a queue wait at most.
-- qgen:queue items
CREATE TABLE items (
    id       integer PRIMARY KEY,
    queue_id text NOT NULL,
    data     text NOT NULL,
    status   varchar(20) NOT NULL DEFAULT 'pending', -- qgen:status ready=pending running=in_progress done=completed failed=failed
    since    integer -- qgen:claimed timeout=1h as=epoch_ms
);
CREATE INDEX items_queue ON items (queue_id, status);

-- One run of a schedule is added where it is not stopped, and none is newer than what the caller has seen.
-- qgen:queue runs enqueue=absent like="cron" among=ready
CREATE TABLE runs (
    id      integer PRIMARY KEY,
    cron    int NOT NULL,
    created integer NOT NULL, -- qgen:enqueued as=epoch_ms
    status  varchar(20) NOT NULL DEFAULT 'wait', -- qgen:status ready=wait running=doing done=done failed=failed
    since   integer -- qgen:claimed timeout=1h as=epoch_ms
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
    till    integer, -- qgen:lease length=5m as=epoch_ms
    PRIMARY KEY (tenant, message)
);

CREATE TABLE tenants (
    id     int PRIMARY KEY,
    active integer NOT NULL DEFAULT 1
);

CREATE TABLE sent (
    tenant int NOT NULL,
    at     integer NOT NULL
);

-- So many orders of a tenant come in an hour at most; the other table keeps them.
-- qgen:queue orders done=delete failed=delete
CREATE TABLE orders (
    id     integer PRIMARY KEY,
    tenant int NOT NULL,
    till   integer -- qgen:lease length=5m as=epoch_ms
);

-- What waits and what runs stand in two tables, and no more than so many in both.
-- qgen:queue letters done=delete failed=delete
CREATE TABLE letters (
    id     integer PRIMARY KEY AUTOINCREMENT,
    tenant int NOT NULL
);
CREATE TABLE letters_running (
    id     integer PRIMARY KEY,
    tenant int NOT NULL,
    mark   text NOT NULL, -- qgen:token
    till   integer NOT NULL -- qgen:lease length=5m as=epoch_ms
);
