-- What a CHECK says of a text's length holds as the length of a type does.
-- qgen:queue
CREATE TABLE jobs (
  id    bigint PRIMARY KEY,
  state text NOT NULL CHECK (char_length(state) <= 4), -- qgen:status ready=new running=working done=done failed=bad
  mark  text CHECK (char_length(mark) <= 16), -- qgen:token
  cause text CHECK (char_length(cause) < 500) -- qgen:error max=600
);
-- qgen:queue
CREATE TABLE told (
  id    bigint PRIMARY KEY,
  s     text NOT NULL, -- qgen:status ready=N running=A done=D
  since timestamptz,   -- qgen:claimed timeout=arg
  beat  timestamptz    -- qgen:heartbeat timeout=arg
);
-- qgen:queue
CREATE TABLE leased (
  id    bigint PRIMARY KEY,
  s     text NOT NULL,       -- qgen:status ready=N running=A done=D
  till  timestamptz,         -- qgen:lease length=arg
  beat  timestamptz          -- qgen:heartbeat timeout=arg
);
-- qgen:queue
CREATE TABLE counted (
  id    bigint PRIMARY KEY,
  s     text NOT NULL,       -- qgen:status ready=N running=A done=D
  since timestamptz          -- qgen:claimed timeout=arg unit=s
);
