-- qgen:queue events
CREATE TABLE events (
  id         bigserial PRIMARY KEY, -- qgen:seq
  xid        bigint NOT NULL,       -- qgen:on enqueue set "txid_current()"
  created_at timestamptz NOT NULL,  -- qgen:enqueued
  body       jsonb
);
-- qgen:queue found strategy=offset
CREATE TABLE found (id bigserial PRIMARY KEY, body jsonb);
-- qgen:queue readings
-- qgen:where "value > 0"
CREATE TABLE readings (
  sensor   int NOT NULL,
  taken_at timestamptz NOT NULL, -- qgen:seq notunique gaps settle=60s
  value    double precision,
  PRIMARY KEY (sensor, taken_at)
);
-- qgen:queue ordered
CREATE TABLE ordered (id bigint PRIMARY KEY -- qgen:seq settle=0s
);
