-- qgen:queue
CREATE TABLE jobs (
  id    bigint PRIMARY KEY,
  state text NOT NULL CHECK (char_length(state) <= 4), -- qgen:status ready=new running=run done=done failed=bad
  cause text, -- qgen:error
  CONSTRAINT cause_length CHECK (char_length(cause) <= 500)
);
