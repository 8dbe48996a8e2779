-- Jobs that fail and are tried again without an end.
-- qgen:queue done=delete
CREATE TABLE at_once (
  id int PRIMARY KEY,
  at timestamptz -- qgen:claimed timeout=5m
);
-- qgen:queue done=delete failed=delete
CREATE TABLE counted (
  id    int PRIMARY KEY,
  at    timestamptz,           -- qgen:claimed timeout=5m
  tries int NOT NULL DEFAULT 0 -- qgen:attempts
);
-- qgen:queue done=delete
CREATE TABLE delayed (
  id    int PRIMARY KEY,
  at    timestamptz,            -- qgen:claimed timeout=5m
  since timestamptz NOT NULL,   -- qgen:due add=delay
  delay int NOT NULL DEFAULT 0
);
-- What the table says itself of a try that failed may be a wait.
-- qgen:queue done=delete; where "coalesce(at, seen) < {now} - interval '1 minute'"
CREATE TABLE waits (
  id   int PRIMARY KEY,
  at   timestamptz, -- qgen:claimed timeout=5m
  seen timestamptz  -- qgen:on retry set now
);
-- qgen:queue done=delete failed=delete
CREATE TABLE ends (
  id    int PRIMARY KEY,
  at    timestamptz,           -- qgen:claimed timeout=5m
  tries int NOT NULL DEFAULT 0 -- qgen:attempts max=5
);
