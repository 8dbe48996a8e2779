-- A URL waits once: what is asked for again changes the row that waits.
-- qgen:queue urls enqueue=update
CREATE TABLE urls (
    id       uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    url      string NOT NULL,
    state    string NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    priority int NOT NULL DEFAULT 0,        -- qgen:priority desc; on update set "greatest(priority, {new}.priority)"
    body     jsonb,
    UNIQUE INDEX urls_waiting (url) WHERE state = 'new'
);
