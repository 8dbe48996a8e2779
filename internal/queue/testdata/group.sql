-- Rows of one tenant, two at a time, in an order that cannot be compared.
-- qgen:queue drawn
-- qgen:order random
CREATE TABLE drawn (
  id     bigserial PRIMARY KEY,
  tenant int,      -- qgen:group limit=2 free=0
  s      text NOT NULL DEFAULT 'N' -- qgen:status ready=N running=A done=D
);
-- Steps of one order, of which each waits for those before it.
-- qgen:queue steps done=delete
CREATE TABLE steps (
  id       bigserial PRIMARY KEY,
  order_id int NOT NULL, -- qgen:group fifo
  due_at   timestamptz,  -- qgen:due null=never; order 1
  s        text NOT NULL DEFAULT 'N' -- qgen:status ready=N running=A
);
-- What is hidden either runs or waits.
-- qgen:queue hidden done=delete
CREATE TABLE hidden (
  id     bigserial PRIMARY KEY,
  tenant int NOT NULL,          -- qgen:group limit=1
  vt     timestamptz NOT NULL   -- qgen:visible length=5m
);
