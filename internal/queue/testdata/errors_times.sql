-- qgen:queue done=delete
CREATE TABLE times (
  id bigint PRIMARY KEY,
  a  timestamp,   -- qgen:due
  b  int,         -- qgen:enqueued
  c  boolean,     -- qgen:expires
  d  date,        -- qgen:lease length=1m
  e  text,        -- qgen:finished as=text:'02.01.2006'
  f  varchar(10), -- qgen:heartbeat as=text:'2006-01-02 15:04:05' timeout=5m
  g  text,        -- qgen:on claim set now as=epoch
  h  smallint,    -- qgen:on claim set now as=epoch
  i  int,         -- qgen:on claim set now as=epoch_ms
  j  bigint,      -- qgen:on claim set now as=text:'2006-01-02'
  k  bigint,      -- qgen:on claim set now as=epok
  l  text,        -- qgen:on claim set now
  m  text,        -- qgen:on claim set now as=text:'2006-01-02 15:04:05.999'
  n  text,        -- qgen:on claim set now as=text:'2006-01-02T15:04Z07:00'
  o  text,        -- qgen:on claim set now as=text:'2006-01-02 15:04:05'
  p  text,        -- qgen:on claim set now as=text:'2006-01Z-02'
  q  bigint,      -- qgen:on claim set now as=epoch; on done set now as=epoch_ms
  r  date,        -- qgen:claimed as=epoch
  s  int          -- qgen:on claim set now as=epoch_ns
);
-- qgen:queue done=delete
CREATE TABLE dates (
  id bigint PRIMARY KEY,
  r  date,         -- qgen:expires as=epoch
  s  bytea,        -- qgen:due as=epoch
  t  real,           -- qgen:enqueued as=epoch
  u  numeric(12, 3), -- qgen:finished as=epoch
  v  numeric(20),    -- qgen:on claim set now as=text:epoch
  w  double precision -- qgen:on claim set now
);
