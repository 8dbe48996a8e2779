-- qgen:queue states strategy=offset done=delete purge=done
CREATE TABLE states (id bigserial PRIMARY KEY,
  s    text NOT NULL, -- qgen:status ready=N done=D
  kind text NOT NULL  -- qgen:topic
);
-- qgen:queue nothing_grows strategy=offset
CREATE TABLE nothing_grows (id uuid PRIMARY KEY);
-- qgen:queue nullable
CREATE TABLE nullable (id uuid PRIMARY KEY,
  at timestamptz -- qgen:seq notunique settle=60s
);
-- qgen:queue twice
CREATE TABLE twice (id uuid PRIMARY KEY,
  n bigint NOT NULL -- qgen:seq settle=soon
);
-- qgen:queue timeless
CREATE TABLE timeless (
  id bigserial PRIMARY KEY -- qgen:seq settle=60s
);
-- qgen:queue perhaps
CREATE TABLE perhaps (
  id bigserial PRIMARY KEY, -- qgen:seq settle=60s
  at timestamptz            -- qgen:enqueued
);
-- qgen:queue writes
CREATE TABLE writes (
  id bigserial PRIMARY KEY, -- qgen:seq
  by text                   -- qgen:on claim set 'me'
);
-- qgen:queue removed done=delete
CREATE TABLE removed (
  id bigserial PRIMARY KEY -- qgen:seq gaps settle=60s
);
