-- A free row and a taken one are all that there is: the key serves a claim.
CREATE TABLE taken (
    id    bigserial PRIMARY KEY,
    taken timestamptz -- qgen:status ready=null running=now; claimed timeout=5m expired=claim
);

-- The topic is one for all rows that are read, and may stand amid the order.
CREATE TABLE records (
    id            bigserial NOT NULL,
    part          bigint NOT NULL DEFAULT 1, -- qgen:order 1
    of_table      text NOT NULL,             -- qgen:topic
    consume_after timestamptz DEFAULT now(), -- qgen:due; order 2
    status        smallint NOT NULL DEFAULT 1, -- qgen:status ready=1 done=2
    PRIMARY KEY (part, id)
);
CREATE INDEX records_ready ON records (part, of_table, consume_after, id) WHERE status = 1;

-- The key gives the order. It has the jobs whose tries are spent as well, which are few.
CREATE TABLE que_jobs (
    priority    smallint    NOT NULL DEFAULT 100,   -- qgen:priority asc
    run_at      timestamptz NOT NULL DEFAULT now(), -- qgen:due; order 2
    job_id      bigserial   NOT NULL,
    job_class   text        NOT NULL,
    error_count int         NOT NULL DEFAULT 0,     -- qgen:attempts up on=retry max=15
    queue       text        NOT NULL DEFAULT '',    -- qgen:topic
    PRIMARY KEY (queue, priority, run_at, job_id)
);

-- Rows that are done are many: an index has to leave them out.
CREATE TABLE kept (
    id      bigserial PRIMARY KEY,
    tries   int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=15
    ended   timestamptz             -- qgen:finished
);

-- What is claimed by topic and counted by group wants one index, not two of the same columns.
-- qgen:queue lanes
CREATE TABLE lanes (
    id     bigint PRIMARY KEY,
    lane   text NOT NULL,   -- qgen:topic; group limit=10
    status text NOT NULL    -- qgen:status ready=ENQUEUED running=PENDING done=SUCCESS
);

-- A partitioned table takes no index that is built beside its writers.
CREATE TABLE parted (
    id    bigint NOT NULL,
    day   date NOT NULL,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    PRIMARY KEY (id, day)
) PARTITION BY RANGE (day);
