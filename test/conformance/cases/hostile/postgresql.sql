-- Names that are hard on SQL and on Go: keywords of both, capitals, blanks,
-- quotes, letters of other languages, and what would end a comment or a text.
-- qgen:queue
CREATE TABLE jobs (
    "Select"      bigserial PRIMARY KEY,
    n             bigint NOT NULL,                    -- qgen:payload
    "State of it" text NOT NULL DEFAULT 'ready',      -- qgen:status ready=ready running=running done=done failed=failed
    "func"        int NOT NULL DEFAULT 0,             -- qgen:attempts up on=claim max=3
    "order"       timestamptz,                        -- qgen:lease length=1h
    "range"       text,                               -- qgen:worker
    "*/ err"      text,                               -- qgen:error max=200
    "größe"       int DEFAULT 7,                      -- qgen:payload
    "日本"        text,                               -- qgen:payload
    "it's"        text,                               -- qgen:payload
    "a""b"        text,                               -- qgen:payload
    "100%s"       text,                               -- qgen:payload
    "{{.Table}}"  text,                               -- qgen:payload
    "$1"          text,                               -- qgen:payload
    "--"          text,                               -- qgen:ignore
    type          jsonb,                              -- qgen:payload json
    "Key"         text,                               -- qgen:payload
    "LogValue"    text,                               -- qgen:payload
    ctx           text,                               -- qgen:payload
    q             text,                               -- qgen:payload
    jobs          text,                               -- qgen:payload
    string        text,                               -- qgen:payload
    nil           text,                               -- qgen:payload
    "new
line"             text,                               -- qgen:payload
    "end"         timestamptz,                        -- qgen:finished
    since         timestamptz NOT NULL DEFAULT now()  -- qgen:enqueued
);
