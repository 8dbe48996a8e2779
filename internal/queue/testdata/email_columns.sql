-- The same table with its annotations in qgen.yaml, and one comment that loses.
CREATE TABLE mail.email_outbox (
    msg_id     bigserial PRIMARY KEY,
    state      char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=X
    kind       varchar(20) NOT NULL,
    priority   int NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    not_before timestamptz,
    lease_till timestamptz,
    reader     text,
    tries      int NOT NULL DEFAULT 0,
    last_error text,
    body       jsonb NOT NULL
);
