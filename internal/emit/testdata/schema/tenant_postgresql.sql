CREATE TYPE job_state AS ENUM ('ready', 'running');
CREATE TABLE tenant_jobs (
    tenant  text,
    no      int,
    state   job_state NOT NULL DEFAULT 'ready',
    version bigint NOT NULL DEFAULT 0,
    data    bytea,
    PRIMARY KEY (tenant, no)
);
