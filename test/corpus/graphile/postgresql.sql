CREATE SCHEMA graphile_worker;

CREATE TABLE graphile_worker._private_job_queues (
    id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    queue_name text NOT NULL UNIQUE CHECK (length(queue_name) <= 128),
    locked_at timestamptz,
    locked_by text,
    is_available boolean GENERATED ALWAYS AS (locked_at IS NULL) STORED NOT NULL
);

CREATE TABLE graphile_worker._private_tasks (
    id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    identifier text NOT NULL UNIQUE CHECK (length(identifier) <= 128)
);

-- qgen:queue jobs done=delete
CREATE TABLE graphile_worker._private_jobs (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    job_queue_id int NULL,
    task_id int NOT NULL,                        -- qgen:topic list
    payload json DEFAULT '{}'::json NOT NULL,    -- qgen:payload
    priority int2 DEFAULT 0 NOT NULL,            -- qgen:priority asc
    run_at timestamptz DEFAULT now() NOT NULL,   -- qgen:due; order 2
    attempts int2 DEFAULT 0 NOT NULL,            -- qgen:attempts up on=claim max=max_attempts
    max_attempts int2 DEFAULT 25 NOT NULL CHECK (max_attempts >= 1),
    last_error text,                             -- qgen:error
    created_at timestamptz DEFAULT now() NOT NULL, -- qgen:enqueued
    updated_at timestamptz DEFAULT now() NOT NULL, -- qgen:on claim,retry,release,fail,recover set now
    key text UNIQUE CHECK (length(key) > 0 AND length(key) <= 512),
    locked_at timestamptz,                       -- qgen:claimed timeout=4h expired=recover
    locked_by text,                              -- qgen:worker
    revision int DEFAULT 0 NOT NULL,
    flags jsonb,
    is_available boolean GENERATED ALWAYS AS (((locked_at IS NULL) AND (attempts < max_attempts))) STORED NOT NULL -- qgen:status ready~true
);

CREATE INDEX jobs_main_index ON graphile_worker._private_jobs USING btree (priority, run_at) INCLUDE (id, task_id, job_queue_id) WHERE (is_available = true);
CREATE INDEX jobs_no_queue_index ON graphile_worker._private_jobs USING btree (priority, run_at) INCLUDE (id, task_id) WHERE (is_available = true AND job_queue_id IS NULL);
