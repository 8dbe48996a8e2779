CREATE TABLE jobs (id bigserial PRIMARY KEY,
  s text NOT NULL, -- qgen:status ready=N running=A
  t timestamptz    -- qgen:due
);
CREATE TABLE gone (id bigserial PRIMARY KEY);
