-- qgen:queue done=delete
CREATE TABLE runs (
  id integer PRIMARY KEY,
  a  datetime, -- qgen:due as=text:epoch
  b  string,   -- qgen:expires as=text:epoch
  c  point,    -- qgen:enqueued as=text:epoch
  d,           -- qgen:finished as=text:epoch
  e  text      -- qgen:lease length=1m as=text:epoch free=123456789012
);
