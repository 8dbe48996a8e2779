-- A recurring job is defined anew by its name, where that differs and it does not run.
-- qgen:queue jobs enqueue=update key=jobs_uid
CREATE TABLE jobs (
    id        bigserial PRIMARY KEY,
    uid       text NOT NULL CONSTRAINT jobs_uid UNIQUE,
    data      text NOT NULL,
    priority  int NOT NULL DEFAULT 0, -- qgen:priority desc
    state     text NOT NULL DEFAULT 'scheduled', -- qgen:status ready=scheduled running=running done=finished failed=failed; on update set scheduled
    scheduled timestamptz NOT NULL, -- qgen:due
    deadline  timestamptz -- qgen:lease length=10m
);

-- The caller gives the key; what is deleted stays so.
-- qgen:queue files enqueue=update; where "is_deleted = false"
CREATE TABLE files (
    file_id    bigint NOT NULL,
    data_type  text NOT NULL,
    bucket     text NOT NULL,
    is_deleted boolean NOT NULL DEFAULT false, -- qgen:ignore
    synced     timestamptz, -- qgen:claimed timeout=10m
    pending    text NOT NULL DEFAULT 'yes', -- qgen:status ready=yes running=busy done=no; on update set yes
    PRIMARY KEY (file_id, data_type)
);

