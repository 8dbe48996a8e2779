-- qgen:queue incoming
CREATE TABLE wolverine_incoming_envelopes (
  id             uuid NOT NULL,              -- qgen:id
  status         varchar(25) NOT NULL CHECK (status IN ('Incoming', 'Scheduled', 'Handled')), -- qgen:status ready=Incoming|Scheduled running~Incoming|Scheduled done=Handled; on retry set Scheduled
  owner_id       integer NOT NULL,           -- qgen:worker free=0 type=int
  execution_time timestamptz,                -- qgen:due
  attempts       integer NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=3
  body           bytea NOT NULL,
  message_type   varchar(250) NOT NULL,
  received_at    varchar(250) NOT NULL,      -- qgen:id; topic
  keep_until     timestamptz,                -- qgen:on done set "now() + interval '5 minutes'"
  PRIMARY KEY (id, received_at)
);
