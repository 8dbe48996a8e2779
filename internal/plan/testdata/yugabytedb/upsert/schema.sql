-- A URL is fetched once: what is asked for again is ready again.
-- qgen:queue urls enqueue=update
CREATE TABLE urls (
    id       uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    url      text NOT NULL UNIQUE,
    state    text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done; on update set new
    worker   text,                        -- qgen:worker
    priority int NOT NULL DEFAULT 0       -- qgen:priority desc
);
