-- A job that failed stays with nobody until its claim has run out, and Recover makes it ready: its heartbeat is the wait.
-- qgen:queue images done=delete failed=delete
CREATE TABLE images (
    id        bigserial PRIMARY KEY,
    queue     text NOT NULL,                   -- qgen:topic
    job       jsonb NOT NULL,                  -- qgen:payload
    worker    uuid,                            -- qgen:worker
    status    text NOT NULL DEFAULT 'new',     -- qgen:status ready=new running=running; on retry set old
    added     timestamptz NOT NULL DEFAULT now(), -- qgen:enqueued; order 1
    heartbeat timestamptz,                     -- qgen:heartbeat timeout=2m; on retry set old; on release,recover set null
    retry     integer NOT NULL DEFAULT 5       -- qgen:attempts down on=retry; on recover set old
);
-- Recover finds by it what has run out: no row that nobody has has a value there.
CREATE INDEX heartbeat_index ON images (heartbeat);
CREATE INDEX images_ready ON images (queue, added, id) WHERE status = 'new' AND retry > 0;
