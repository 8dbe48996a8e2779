-- Airflow's task instances, of versions 2.6 to 2.9, from memory and less the foreign keys and the columns of triggers: the scheduler
-- takes what is scheduled and says queued, and the worker that picks it up says running, where, and that it is a try. What a dead
-- scheduler has queued is scheduled again. A task that failed waits for its next try in a state of its own, up_for_retry, out of which
-- the scheduler takes it by rules of the DAG.
CREATE TABLE job (
    id               int AUTO_INCREMENT PRIMARY KEY,
    state            varchar(20),
    job_type         varchar(30),
    start_date       timestamp(6) NULL,
    end_date         timestamp(6) NULL,
    latest_heartbeat timestamp(6) NULL,
    hostname         varchar(500),
    unixname         varchar(1000)
);

-- qgen:queue tasks
CREATE TABLE task_instance (
    task_id              varchar(250) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL,
    dag_id               varchar(250) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL,
    run_id               varchar(250) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin NOT NULL,
    map_index            integer NOT NULL DEFAULT -1,
    start_date           timestamp(6) NULL, -- qgen:on start set now
    end_date             timestamp(6) NULL, -- qgen:finished also_failed
    duration             double,
    state                varchar(20),  -- qgen:status ready=scheduled claimed=queued running=running|restarting done=success|skipped failed=failed|upstream_failed
    try_number           integer, -- qgen:payload; on start set +1
    max_tries            integer DEFAULT -1,
    hostname             varchar(1000), -- qgen:on start set arg:hostname
    unixname             varchar(1000), -- qgen:ignore
    job_id               integer, -- qgen:ignore
    pool                 varchar(256) NOT NULL,
    pool_slots           integer NOT NULL,
    queue                varchar(256), -- qgen:topic optional
    priority_weight      integer, -- qgen:order 1 desc nulls=last
    operator             varchar(1000),
    custom_operator_name varchar(1000),
    queued_dttm          timestamp(6) NULL, -- qgen:claimed
    queued_by_job_id     integer, -- qgen:worker alive=workers
    pid                  integer, -- qgen:on start set arg:pid
    executor_config      blob,
    updated_at           timestamp(6) NULL, -- qgen:on enqueue,claim,start,done,fail,retry,release,recover,redrive set now
    external_executor_id varchar(250), -- qgen:ignore
    CONSTRAINT task_instance_pkey PRIMARY KEY (dag_id, task_id, run_id, map_index)
) ENGINE=InnoDB;
CREATE INDEX ti_state ON task_instance (state);
CREATE INDEX ti_dag_state ON task_instance (dag_id, state);
CREATE INDEX ti_dag_run ON task_instance (dag_id, run_id);
CREATE INDEX ti_pool ON task_instance (pool, state, priority_weight);
CREATE INDEX ti_job_id ON task_instance (job_id);
