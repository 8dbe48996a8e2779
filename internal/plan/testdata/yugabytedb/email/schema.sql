-- qgen:queue email
CREATE TABLE email_outbox (
    msg_id     bigserial PRIMARY KEY,              -- the id is found by itself
    state      char(1) NOT NULL DEFAULT 'N',       -- qgen:status ready=N running=A done=C failed=E
    kind       varchar(20) NOT NULL,               -- qgen:topic
    priority   int NOT NULL DEFAULT 0,             -- qgen:priority desc
    created_at timestamptz NOT NULL DEFAULT now(), -- qgen:enqueued; order 2
    not_before timestamptz,                        -- qgen:due
    lease_till timestamptz,                        -- qgen:lease length=5m expired=recover
    reader     text,                               -- qgen:worker
    tries      int NOT NULL DEFAULT 0,             -- qgen:attempts up on=claim max=5
    last_error text,                               -- qgen:error
    body       jsonb NOT NULL                      -- qgen:payload
);
