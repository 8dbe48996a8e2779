-- A recurring job is defined anew by its name, where that differs and it does not run.
-- qgen:queue jobs enqueue=update key=jobs_uid
CREATE TABLE jobs (
    id        bigint AUTO_INCREMENT PRIMARY KEY,
    uid       varchar(100) NOT NULL,
    data      text NOT NULL,
    priority  int NOT NULL DEFAULT 0, -- qgen:priority desc
    state     varchar(20) NOT NULL DEFAULT 'scheduled', -- qgen:status ready=scheduled running=running done=finished failed=failed; on update set scheduled
    scheduled datetime(6) NOT NULL, -- qgen:due
    deadline  datetime(6), -- qgen:lease length=10m
    UNIQUE KEY jobs_uid (uid)
);

-- The caller gives the key; what is deleted stays so.
-- qgen:queue files enqueue=update; where "is_deleted = 0"
CREATE TABLE files (
    file_id    bigint NOT NULL,
    data_type  varchar(40) NOT NULL,
    bucket     varchar(40) NOT NULL,
    is_deleted tinyint NOT NULL DEFAULT 0, -- qgen:ignore
    synced     datetime(6), -- qgen:claimed timeout=10m
    pending    varchar(5) NOT NULL DEFAULT 'yes', -- qgen:status ready=yes running=busy done=no; on update set yes
    PRIMARY KEY (file_id, data_type)
);
