CREATE TABLE lines (
    at     TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, -- qgen:enqueued; order
    due    DATETIME,                                -- qgen:due as=text:2006-01-02T15:04:05.000Z clock=utc
    state  BOOLEAN,                                 -- qgen:status ready=null running=false done=true
    holder TEXT,                                    -- qgen:token
    line   BLOB
);

CREATE TABLE popped (
    at    TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, -- qgen:enqueued; order
    state BOOLEAN,                                 -- qgen:status ready=null done=true
    line  BLOB
);

-- Finished rows go, so that VACUUM gives their numbers to others.
CREATE TABLE mails (
    body TEXT NOT NULL,                             -- qgen:payload; order
    till INTEGER NOT NULL DEFAULT 0,                -- qgen:lease length=2m as=epoch_ms free=0
    hold TEXT                                       -- qgen:token
);

-- Nothing makes the name unique, and the place has another name: this rowid is a column.
CREATE TABLE events (
    name  TEXT NOT NULL,                            -- qgen:id
    rowid TEXT,                                     -- qgen:payload
    state TEXT NOT NULL DEFAULT 'n'                 -- qgen:status ready=n running=r done=d
);
