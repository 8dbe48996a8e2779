-- The tables of Action Scheduler as PostgreSQL would have them.
-- qgen:queue actions
CREATE TABLE actionscheduler_actions (
    action_id          bigserial PRIMARY KEY,
    hook               varchar(191) NOT NULL,
    status             varchar(20) NOT NULL,         -- qgen:status ready=pending running=in-progress done=complete failed=failed
    scheduled_date_gmt timestamptz,                  -- qgen:due; order 2
    priority           smallint NOT NULL DEFAULT 10, -- qgen:priority asc
    attempts           int NOT NULL DEFAULT 0,       -- qgen:attempts up on=claim max=3
    last_attempt_gmt   timestamptz,                  -- qgen:claimed timeout=5m
    claim_id           bigint NOT NULL DEFAULT 0     -- qgen:token free=0 from=companion
);
CREATE TABLE actionscheduler_claims (
    claim_id         bigserial PRIMARY KEY,
    date_created_gmt timestamptz
);
CREATE TABLE actionscheduler_logs (
    log_id       bigserial PRIMARY KEY,
    action_id    bigint NOT NULL,
    message      text NOT NULL,
    log_date_gmt timestamptz
);
CREATE INDEX actionscheduler_logs_action ON actionscheduler_logs (action_id);
