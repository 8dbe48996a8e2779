-- qgen:queue charge done=delete
CREATE TABLE orders (
  id    bigint PRIMARY KEY,
  a     int, -- qgen:topic(clener)
  b     int  -- qgen:status(charge) ready=0
);

-- The queue tells by its status who has a row, and a stage that takes over such a comment does not.
-- qgen:queue calls
CREATE TABLE calls (
  id       bigint PRIMARY KEY,
  state    text NOT NULL,        -- qgen:status(calls) ready=new running=busy done=done
  modified timestamptz NOT NULL  -- qgen:claimed
);
