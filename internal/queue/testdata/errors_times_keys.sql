CREATE TABLE runs (
  id  bigint PRIMARY KEY,
  a   text,          -- qgen:due
  b   varchar(9),    -- qgen:enqueued as=text:epoch
  c   varchar(10),   -- qgen:finished as=text:epoch
  d   bigint,        -- qgen:expires as=text:epoch_ms
  e   bytea,         -- qgen:on claim set now as=text:epoch
  f   int,           -- qgen:attempts
  g   bigint,
  h   text,
  i   text,          -- qgen:lease length=1m
  j   text,
  k   varchar(18),   -- qgen:on claim set now as=text:epoch_ns
  l   text
);
