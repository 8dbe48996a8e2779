CREATE TABLE lines (
    at    TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, -- qgen:enqueued; order
    due   DATETIME,                                -- qgen:due as=text:2006-01-02T15:04:05.000Z clock=utc
    state BOOLEAN,                                 -- qgen:status ready=null running=false done=true
    line  BLOB
);
