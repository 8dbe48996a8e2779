CREATE TABLE email_outbox (
    msg_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state      char(1) NOT NULL DEFAULT 'N' CHECK (state IN ('N', 'A', 'C', 'E')),
    kind       varchar(20) NOT NULL,
    priority   int NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    not_before timestamptz,
    lease_till timestamptz,
    token      uuid,
    reader     text,
    tries      int NOT NULL DEFAULT 0,
    last_error text,
    body       jsonb NOT NULL
);
CREATE INDEX email_outbox_ready ON email_outbox (kind, priority DESC, not_before NULLS FIRST, msg_id) WHERE state = 'N';
