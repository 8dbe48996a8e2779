-- A recurring job is defined anew by its name, where that differs and it does not run.
-- qgen:queue jobs enqueue=update key="uid"
CREATE TABLE jobs (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    uid       TEXT NOT NULL UNIQUE,
    data      TEXT NOT NULL,
    priority  INT NOT NULL DEFAULT 0, -- qgen:priority desc
    state     TEXT NOT NULL DEFAULT 'scheduled', -- qgen:status ready=scheduled running=running done=finished failed=failed; on update set scheduled
    scheduled BIGINT NOT NULL, -- qgen:due as=epoch_ms
    deadline  BIGINT -- qgen:lease length=10m as=epoch_ms
);

-- The caller gives the key; what is deleted stays so.
-- qgen:queue files enqueue=update; where "is_deleted = 0"
CREATE TABLE files (
    file_id    BIGINT NOT NULL,
    data_type  TEXT NOT NULL,
    bucket     TEXT NOT NULL,
    is_deleted INT NOT NULL DEFAULT 0, -- qgen:ignore
    synced     BIGINT, -- qgen:claimed timeout=10m as=epoch_ms
    pending    TEXT NOT NULL DEFAULT 'yes', -- qgen:status ready=yes running=busy done=no; on update set yes
    PRIMARY KEY (file_id, data_type)
) WITHOUT ROWID;
