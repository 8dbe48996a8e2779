-- Tables of public projects whose shapes the other cases do not have.
CREATE TABLE background_task (
    id          serial NOT NULL PRIMARY KEY,
    task_name   varchar(190) NOT NULL,
    task_params text NOT NULL,         -- qgen:payload
    priority    integer NOT NULL,      -- qgen:priority desc
    run_at      timestamptz NOT NULL,  -- qgen:due; order 2
    queue       varchar(190) DEFAULT NULL, -- qgen:topic optional
    attempts    integer NOT NULL,      -- qgen:attempts up on=retry max=25
    failed_at   timestamptz NULL,      -- qgen:status ready=null failed=now
    last_error  text NOT NULL,         -- qgen:error
    locked_by   varchar(64) NULL,      -- qgen:worker
    locked_at   timestamptz NULL       -- qgen:claimed timeout=1h
);
CREATE TABLE que_jobs (
    priority    smallint DEFAULT 100 NOT NULL,     -- qgen:priority asc
    run_at      timestamptz DEFAULT now() NOT NULL, -- qgen:due; order 1
    id          bigserial PRIMARY KEY,
    job_class   text NOT NULL,
    error_count integer DEFAULT 0 NOT NULL,        -- qgen:attempts up on=retry max=15
    queue       text DEFAULT 'default' NOT NULL,   -- qgen:topic
    finished_at timestamptz,                       -- qgen:status ready=null done=now failed=null
    expired_at  timestamptz,                       -- qgen:status ready=null failed=now done=null
    tags        text[] DEFAULT '{}'
);
CREATE TABLE qrtz_triggers (
    sched_name     varchar(120) NOT NULL, -- qgen:topic
    trigger_name   varchar(200) NOT NULL,
    trigger_group  varchar(200) NOT NULL,
    next_fire_time bigint NULL,           -- qgen:due as=epoch_ms null=never; order 1
    priority       integer NULL,          -- qgen:order 2 desc nulls=last
    trigger_state  varchar(16) NOT NULL,  -- qgen:status ready=WAITING running=ACQUIRED done=COMPLETE failed=ERROR
    job_data       bytea NULL,            -- qgen:payload
    PRIMARY KEY (sched_name, trigger_name, trigger_group)
);
CREATE TABLE deliveries (
    id     bigserial PRIMARY KEY,
    secret text NOT NULL,                 -- qgen:ignore
    state  text NOT NULL DEFAULT 'N'      -- qgen:status ready=N running=A done=C
);
