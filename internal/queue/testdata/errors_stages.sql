-- qgen:queue charge done=delete
CREATE TABLE orders (
  id    bigint PRIMARY KEY,
  a     int, -- qgen:topic(clener)
  b     int  -- qgen:status(charge) ready=0
);
