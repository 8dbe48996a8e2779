-- db-scheduler (Java)
-- qgen:queue dbscheduler done=delete failed=keep
create table scheduled_tasks (
  task_name text not null,              -- qgen:topic list
  task_instance text not null,
  task_data bytea,                      -- qgen:payload
  execution_time timestamp with time zone not null, -- qgen:due; order 2
  picked BOOLEAN not null,              -- qgen:status ready=false running=true
  picked_by text,                       -- qgen:worker
  last_success timestamp with time zone,
  last_failure timestamp with time zone, -- qgen:on retry set now
  consecutive_failures INT,             -- qgen:attempts up on=retry max=10
  last_heartbeat timestamp with time zone, -- qgen:heartbeat timeout=4m; on claim set now
  version BIGINT not null,              -- qgen:version
  priority SMALLINT,                    -- qgen:priority desc
  PRIMARY KEY (task_name, task_instance)
);
CREATE INDEX execution_time_idx ON scheduled_tasks (execution_time);
CREATE INDEX last_heartbeat_idx ON scheduled_tasks (last_heartbeat);
CREATE INDEX priority_execution_time_idx on scheduled_tasks (priority desc, execution_time asc);

-- JobRunr
-- qgen:queue jobrunr
CREATE TABLE jobrunr_jobs (
    id           NCHAR(36) PRIMARY KEY,
    version      int          NOT NULL,  -- qgen:version
    jobAsJson    text         NOT NULL,  -- qgen:payload
    jobSignature VARCHAR(512) NOT NULL,  -- qgen:payload
    state        VARCHAR(36)  NOT NULL,  -- qgen:status ready=ENQUEUED running=PROCESSING done=SUCCEEDED failed=FAILED
    createdAt    TIMESTAMP    NOT NULL,  -- qgen:enqueued clock=utc
    updatedAt    TIMESTAMP    NOT NULL,  -- qgen:claimed timeout=1m expired=recover clock=utc; order; on retry,release,done,fail,renew set now
    scheduledAt  TIMESTAMP,
    recurringJobId VARCHAR(128),
    labels TEXT[]
);
CREATE INDEX jobrunr_state_idx ON jobrunr_jobs (state);
CREATE INDEX jobrunr_job_updated_at_idx ON jobrunr_jobs (updatedAt);

-- Oban (Elixir)
CREATE TYPE oban_job_state AS ENUM ('available', 'suspended', 'scheduled', 'executing', 'retryable', 'completed', 'discarded', 'cancelled');
-- qgen:queue oban
CREATE TABLE oban_jobs (
    id bigserial PRIMARY KEY,
    state oban_job_state NOT NULL DEFAULT 'available', -- qgen:status ready=available|scheduled|retryable running=executing done=completed failed=discarded; on retry set retryable
    queue text NOT NULL DEFAULT 'default', -- qgen:topic
    worker text NOT NULL,                  -- qgen:payload
    args jsonb NOT NULL DEFAULT '{}',      -- qgen:payload
    errors jsonb[] NOT NULL DEFAULT ARRAY[]::jsonb[], -- qgen:error append json
    attempt integer NOT NULL DEFAULT 0,    -- qgen:attempts up on=claim max=max_attempts
    max_attempts integer NOT NULL DEFAULT 20,
    inserted_at timestamp NOT NULL DEFAULT timezone('UTC', now()), -- qgen:enqueued clock=utc
    scheduled_at timestamp NOT NULL DEFAULT timezone('UTC', now()), -- qgen:due clock=utc; order 2
    attempted_at timestamp,                -- qgen:claimed timeout=1h expired=recover clock=utc
    completed_at timestamp,                -- qgen:finished clock=utc
    discarded_at timestamp,                -- qgen:on fail set now clock=utc
    cancelled_at timestamp,
    attempted_by text[],
    priority integer NOT NULL DEFAULT 0,   -- qgen:priority asc
    tags text[] DEFAULT ARRAY[]::text[],
    meta jsonb DEFAULT '{}',
    CONSTRAINT attempt_range CHECK (attempt >= 0 AND attempt <= max_attempts),
    CONSTRAINT positive_max_attempts CHECK (max_attempts > 0)
);
CREATE INDEX oban_jobs_state_queue_priority_scheduled_at_id_index ON oban_jobs (state, queue, priority, scheduled_at, id);

-- River
CREATE TYPE river_job_state AS ENUM ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled');
-- qgen:queue river
CREATE TABLE river_job (
    id bigserial PRIMARY KEY,
    state river_job_state NOT NULL DEFAULT 'available', -- qgen:status ready=available|retryable|scheduled running=running done=completed failed=discarded; on retry set retryable
    attempt smallint NOT NULL DEFAULT 0,    -- qgen:attempts up on=claim max=max_attempts
    max_attempts smallint NOT NULL,
    attempted_at timestamptz,               -- qgen:claimed timeout=1h expired=recover
    created_at timestamptz NOT NULL DEFAULT NOW(), -- qgen:enqueued
    finalized_at timestamptz,               -- qgen:finished also_failed
    scheduled_at timestamptz NOT NULL DEFAULT NOW(), -- qgen:due; order 2
    priority smallint NOT NULL DEFAULT 1,   -- qgen:priority asc
    args jsonb,                             -- qgen:payload
    attempted_by text[],
    errors jsonb[], -- qgen:error append json
    kind text NOT NULL,                     -- qgen:payload
    metadata jsonb NOT NULL DEFAULT '{}',
    queue text NOT NULL DEFAULT 'default',  -- qgen:topic
    tags varchar(255)[],
    CONSTRAINT finalized_or_finalized_at_null CHECK ((state IN ('cancelled', 'completed', 'discarded') AND finalized_at IS NOT NULL) OR finalized_at IS NULL),
    CONSTRAINT max_attempts_is_positive CHECK (max_attempts > 0),
    CONSTRAINT priority_in_range CHECK (priority >= 1 AND priority <= 4)
);
CREATE INDEX river_job_prioritized_fetching_index ON river_job USING btree (state, queue, priority, scheduled_at, id);

-- Delayed::Job (Rails)
-- qgen:queue delayed done=delete
CREATE TABLE delayed_jobs (
    id bigserial PRIMARY KEY,
    priority integer DEFAULT 0 NOT NULL,   -- qgen:priority asc
    attempts integer DEFAULT 0 NOT NULL,   -- qgen:attempts up on=retry max=25
    handler text NOT NULL,                 -- qgen:payload
    last_error text,                       -- qgen:error
    run_at timestamp without time zone,    -- qgen:due clock=utc; order 2
    locked_at timestamp without time zone, -- qgen:claimed timeout=4h expired=claim clock=utc
    failed_at timestamp without time zone, -- qgen:status ready=null failed=now clock=utc
    locked_by character varying,           -- qgen:worker
    queue character varying,               -- qgen:topic optional
    created_at timestamp(6) without time zone,
    updated_at timestamp(6) without time zone
);
CREATE INDEX delayed_jobs_priority ON delayed_jobs (priority, run_at);

-- Solid Queue (Rails): a ready execution moves to claimed executions
-- qgen:queue solid done=delete strategy=hold
CREATE TABLE solid_queue_ready_executions (
    id bigserial PRIMARY KEY,
    job_id bigint NOT NULL,                -- qgen:payload
    queue_name character varying NOT NULL, -- qgen:topic
    priority integer DEFAULT 0 NOT NULL,   -- qgen:priority asc
    created_at timestamp(6) without time zone NOT NULL -- qgen:enqueued clock=utc
);
CREATE UNIQUE INDEX index_solid_queue_ready_executions_on_job_id ON solid_queue_ready_executions (job_id);
CREATE INDEX index_solid_queue_poll_by_queue ON solid_queue_ready_executions (queue_name, priority, job_id);

-- Procrastinate (Python)
CREATE TYPE procrastinate_job_status AS ENUM ('todo', 'doing', 'succeeded', 'failed', 'cancelled', 'aborting', 'aborted');
-- qgen:queue procrastinate
CREATE TABLE procrastinate_jobs (
    id bigserial PRIMARY KEY,
    queue_name character varying(128) NOT NULL,  -- qgen:topic list optional
    task_name character varying(128) NOT NULL,   -- qgen:payload
    priority integer DEFAULT 0 NOT NULL,         -- qgen:priority desc
    lock text,                                   -- qgen:group limit=1 free=null
    queueing_lock text,
    args jsonb DEFAULT '{}' NOT NULL,            -- qgen:payload
    status procrastinate_job_status DEFAULT 'todo'::procrastinate_job_status NOT NULL, -- qgen:status ready=todo running=doing done=succeeded failed=failed
    scheduled_at timestamp with time zone NULL,  -- qgen:due
    attempts integer DEFAULT 0 NOT NULL,         -- qgen:attempts up on=claim max=5
    abort_requested boolean DEFAULT false NOT NULL,
    worker_id bigint,
    CONSTRAINT check_not_todo_abort_requested CHECK (NOT (status = 'todo' AND abort_requested = true))
);
CREATE UNIQUE INDEX procrastinate_jobs_queueing_lock_idx_v1 ON procrastinate_jobs (queueing_lock) WHERE status = 'todo';

-- pgmq
-- qgen:queue pgmq done=delete failed=keep
CREATE TABLE q_orders (
    msg_id BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    read_ct INT DEFAULT 0 NOT NULL,              -- qgen:attempts up on=claim
    enqueued_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL, -- qgen:enqueued
    last_read_at TIMESTAMP WITH TIME ZONE,       -- qgen:on claim set now
    vt TIMESTAMP WITH TIME ZONE NOT NULL,        -- qgen:visible
    message JSONB,                               -- qgen:payload
    headers JSONB                                -- qgen:payload
);
CREATE INDEX q_orders_vt_idx ON q_orders (vt ASC);

-- Hasura event triggers
-- qgen:queue hasura
CREATE TABLE event_log (
    id TEXT DEFAULT gen_random_uuid()::text PRIMARY KEY,
    schema_name TEXT NOT NULL,
    table_name TEXT NOT NULL,
    trigger_name TEXT NOT NULL,
    payload JSONB NOT NULL,                      -- qgen:payload
    delivered BOOLEAN NOT NULL DEFAULT FALSE,    -- qgen:status ready=false done=true failed=false
    error BOOLEAN NOT NULL DEFAULT FALSE,        -- qgen:status ready=false done=false failed=true
    tries INTEGER NOT NULL DEFAULT 0,            -- qgen:attempts up on=retry max=5
    created_at TIMESTAMP DEFAULT NOW(),          -- qgen:enqueued clock=local; order
    locked TIMESTAMPTZ,                          -- qgen:claimed timeout=30m expired=claim
    next_retry_at TIMESTAMP,                     -- qgen:due clock=local
    archived BOOLEAN NOT NULL DEFAULT FALSE      -- qgen:status ready~false
);

-- Windmill
-- qgen:queue windmill done=delete
CREATE TABLE v2_job_queue (
    id uuid PRIMARY KEY,
    workspace_id varchar(50) NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), -- qgen:enqueued
    started_at timestamptz,                      -- qgen:on claim set now
    scheduled_for timestamptz NOT NULL,          -- qgen:due; order 2
    running boolean NOT NULL DEFAULT false,      -- qgen:status ready=false running=true
    canceled_by varchar(255),
    tag varchar(50) NOT NULL,                    -- qgen:topic list
    priority smallint,                           -- qgen:order 1 desc nulls=last
    ping timestamptz,                            -- qgen:claimed timeout=5m expired=recover
    worker varchar(255),                         -- qgen:worker
    suspend int NOT NULL DEFAULT 0,              -- qgen:status ready~0
    extras jsonb
);

-- Sentry outbox: rows of a shard, scheduled_from is the order and the lease
-- qgen:queue sentry done=delete failed=keep
CREATE TABLE sentry_controloutbox (
    id bigserial PRIMARY KEY,
    region_name varchar(48) NOT NULL,
    shard_scope integer NOT NULL,                -- qgen:topic
    shard_identifier bigint NOT NULL,
    category integer NOT NULL,
    object_identifier bigint NOT NULL,
    payload jsonb,                               -- qgen:payload
    scheduled_from timestamptz NOT NULL,
    scheduled_for timestamptz NOT NULL,          -- qgen:visible length=1m; order 1
    date_added timestamptz NOT NULL              -- qgen:enqueued
);

-- GoodJob (Rails), with its lock columns
-- qgen:queue good
CREATE TABLE good_jobs (
    id uuid DEFAULT gen_random_uuid() NOT NULL PRIMARY KEY,
    queue_name text,                             -- qgen:topic list optional
    priority integer,                            -- qgen:order 1 asc nulls=last
    serialized_params jsonb,                     -- qgen:payload
    scheduled_at timestamp(6) without time zone, -- qgen:due clock=utc
    performed_at timestamp(6) without time zone, -- qgen:on claim set now clock=utc
    finished_at timestamp(6) without time zone,  -- qgen:status ready=null running=null done=now clock=utc
    error text,                                  -- qgen:error
    created_at timestamp(6) without time zone NOT NULL, -- qgen:enqueued clock=utc; order 2
    updated_at timestamp(6) without time zone NOT NULL, -- qgen:on enqueue,claim,retry,release,done,recover set now clock=utc
    executions_count integer,                    -- qgen:attempts up on=claim max=5
    locked_by_id uuid,                           -- qgen:token
    locked_at timestamp without time zone        -- qgen:claimed timeout=30m expired=recover clock=utc
);
