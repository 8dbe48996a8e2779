-- The ideal polling table: an id, a status, the data. The status is 'ready', the
-- key of the batch that holds the row, 'done' or 'error'.
-- qgen:queue
CREATE TABLE tasks (
    id     INTEGER PRIMARY KEY,
    data   text NOT NULL,                        -- qgen:payload
    status varchar(36) NOT NULL DEFAULT 'ready'  -- qgen:status ready=ready running=token done=done failed=error
);
