CREATE TABLE runs (
  id        bigint PRIMARY KEY,
  due_at    char(11) NOT NULL,     -- qgen:due
  held_at   varchar(20),           -- qgen:lease length=5m as=text:epoch_us
  beat_at   text,                  -- qgen:heartbeat timeout=1m as=text:epoch; on claim set now
  made_at   bigint,                -- qgen:enqueued as=epoch
  ended_at  timestamp,             -- qgen:finished clock=local
  tenth     varchar(10) NOT NULL,  -- qgen:expires
  seen_at   bigint,
  note      text,
  tick_at   varchar(20)            -- qgen:on claim set now as=text:epoch_ns
);
