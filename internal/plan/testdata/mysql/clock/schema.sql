-- Numbers are called at times of the day, in UTC or as the session has it.
-- What {now} and an argument are depends on the column with which they are compared.

-- qgen:queue calls
-- qgen:where "opens <= {time} AND {time} < closes AND day = {today} AND (called < {now} OR called IS NULL) AND made < {now} - 60"
-- qgen:where "(called > {arg:since time.Time} OR made > {arg:from *time.Time} - 60)"
CREATE TABLE calls (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    number varchar(40) NOT NULL,
    state  char(1) NOT NULL DEFAULT 'N',      -- qgen:status ready=N running=R done=D
    opens  time NOT NULL,                     -- qgen:ignore
    closes time NOT NULL,                     -- qgen:ignore
    day    date NOT NULL,                     -- qgen:due
    called datetime(6) NULL,                  -- qgen:ignore -- has no role, and no zone
    heard  datetime(3) NULL,                  -- goes to the handler, on the clock of the queue
    seen   timestamp NULL,                    -- qgen:ignore -- knows its zone
    made   bigint NOT NULL                    -- qgen:enqueued as=epoch
);

-- qgen:queue tasks
-- qgen:where "ttl = 0 OR made + ttl > {now}"
-- qgen:where "{now} - made > 5"
-- qgen:where "made < ({now} - (ttl * 2))"
-- qgen:where "FROM_UNIXTIME(made) < {now}"
-- qgen:where "UNIX_TIMESTAMP({now}) - made > 5"
-- qgen:where "TIMESTAMPDIFF(SECOND, started, {now}) > 30"
-- qgen:where "DATE_SUB({now}, INTERVAL 5 MINUTE) > tasks.started"
-- qgen:where "{row}.started IS NULL OR (`started` < ({now}))"
-- qgen:where "NOT EXISTS (SELECT 1 FROM calls AS c WHERE c.made > {now})"
-- qgen:where "NOT EXISTS (SELECT 1 FROM calls AS c WHERE c.called > {now} AND c.called > {arg:since time.Time} AND c.seen > {now})"
-- qgen:where "(SELECT COUNT(*) FROM (SELECT * FROM tasks LIMIT 1000000000) AS e WHERE e.started > {now} - INTERVAL 10 MINUTE) < 5"
-- qgen:where "EXISTS (SELECT 1 FROM elsewhere AS e WHERE e.started > {now})"
CREATE TABLE tasks (
    id      bigint AUTO_INCREMENT PRIMARY KEY,
    status  int NOT NULL DEFAULT 1, -- qgen:status ready=1 running=2 done=3
    made    int NOT NULL,           -- qgen:enqueued as=epoch
    ttl     int NOT NULL,
    started datetime                -- qgen:ignore
);

-- Another table has the present as the queue's clock has it, whether the DDL has that table or not.
CREATE TABLE hosts (id varchar(40) PRIMARY KEY, beat datetime NOT NULL, up int NOT NULL);
-- qgen:queue sends
CREATE TABLE sends (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    beat   int NOT NULL,              -- qgen:enqueued as=epoch
    status int NOT NULL DEFAULT 1,    -- qgen:status ready=1 running=2 done=3
    host   varchar(40)                -- qgen:worker
);
