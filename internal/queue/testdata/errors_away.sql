CREATE TABLE plain (id bigint PRIMARY KEY, body text NOT NULL);
CREATE TABLE plain_running (id bigint PRIMARY KEY, body text NOT NULL, till timestamptz NOT NULL, mark uuid);
CREATE VIEW plain_view AS SELECT id, body FROM plain;

-- qgen:queue told done=delete
CREATE TABLE told_running ( -- qgen:where "true"
  id    bigint PRIMARY KEY,
  state text, -- qgen:due
  till  timestamptz -- qgen:lease length=5m expired=claim
);

CREATE TABLE roles (
  id    bigint PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=new running=busy
  seen  timestamptz,   -- qgen:visible length=5m
  kind  int,           -- qgen:group limit=1
  till  timestamptz,   -- qgen:lease length=5m
  tries int NOT NULL,  -- qgen:attempts max=5
  size  int NOT NULL,
  at    timestamptz,   -- qgen:on claim set now
  name  text
);
CREATE TABLE roles_running (
  id    bigint PRIMARY KEY,
  size  bigint NOT NULL,
  most  int NOT NULL,  -- qgen:max_attempts
  name  text           -- qgen:on retry set null
);

CREATE TABLE heap (body text);
CREATE TABLE heap_running (body text);
CREATE TABLE always (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text);
CREATE TABLE always_running (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text);
CREATE TABLE always_plain (id bigint PRIMARY KEY, body text);
CREATE TABLE keyless_running (id bigint NOT NULL, body text);

CREATE TABLE lost (
  id      bigint PRIMARY KEY,
  problem jsonb -- qgen:error
);
CREATE TABLE halved (id bigint PRIMARY KEY, body text NOT NULL);
CREATE TABLE halved_running (id bigint PRIMARY KEY);
CREATE TABLE lost_running (
  id    bigint PRIMARY KEY,
  own   int NOT NULL,
  calls int NOT NULL,      -- qgen:version
  till  timestamptz        -- qgen:lease length=own unit=s
);
CREATE TABLE limited (id bigint PRIMARY KEY, tries int NOT NULL DEFAULT 0); -- qgen:attempts max=3
CREATE TABLE limited_running (id bigint PRIMARY KEY, tries int NOT NULL DEFAULT 0);
CREATE TABLE cycled (id bigint PRIMARY KEY, due timestamptz NOT NULL); -- qgen:due
CREATE TABLE full_running (id bigint PRIMARY KEY, body text, reason text NOT NULL);
CREATE TABLE ordered (
  id   bigint PRIMARY KEY,
  prio int NOT NULL DEFAULT 0 -- qgen:priority desc
);
CREATE TABLE ordered_running (id bigint PRIMARY KEY);
-- qgen:queue resets done=delete
CREATE TABLE resets (id bigint PRIMARY KEY, lost int NOT NULL -- qgen:attempts on=recover max=2
);
CREATE TABLE resets_running (id bigint PRIMARY KEY, lost int NOT NULL, till timestamptz NOT NULL -- qgen:lease length=5m
);
