# qgen:queue email
CREATE TABLE email_outbox (
    msg_id     bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state      enum('N','A','C','E') NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=C failed=E
    kind       varchar(20) NOT NULL,                       -- qgen:topic
    priority   int NOT NULL DEFAULT 0,                     -- qgen:priority desc
    created_at timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), -- qgen:enqueued; order 2 desc
    not_before datetime(6) NULL,                           -- qgen:due clock=utc
    lease_till datetime(6) NULL,                           -- qgen:lease length=5m clock=utc
    token      binary(16) NULL,                            -- qgen:token
    tries      int unsigned NOT NULL DEFAULT 0,            -- qgen:attempts up on=claim max=5
    last_error text,                                       -- qgen:error
    body       longtext NOT NULL,                          -- qgen:payload
    KEY email_ready (state, kind, priority, created_at, msg_id)
) ENGINE=InnoDB;
