-- Keys and tokens of unusual types.
CREATE DOMAIN positive AS bigint CHECK (VALUE > 0);
-- qgen:queue
CREATE TABLE by_domain (
  id    positive PRIMARY KEY,
  state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
  since timestamptz, -- qgen:claimed timeout=5m
  tries smallint -- qgen:attempts up on=claim max=4
);
-- qgen:queue
CREATE TABLE by_bits (
  id    bit(8) PRIMARY KEY,
  state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D
  since timestamptz, -- qgen:claimed timeout=5m
  flags varbit(4) -- qgen:result
);
-- qgen:queue done=delete
CREATE TABLE heap_number (line text, mark bigint, -- qgen:token
  since timestamptz); -- qgen:claimed timeout=5m
-- qgen:queue done=delete
CREATE TABLE heap_bytes (line text, mark bytea, -- qgen:token
  since timestamptz); -- qgen:claimed timeout=5m
-- qgen:queue
CREATE TABLE notes_json (
  id    uuid PRIMARY KEY,
  state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
  note  jsonb -- qgen:error append
);
-- qgen:queue
CREATE TABLE note_list (
  id    inet PRIMARY KEY,
  state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
  note  varchar(40)[] -- qgen:error append max=40
);
-- qgen:queue
CREATE TABLE note_bytes (
  id    date PRIMARY KEY,
  state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
  note  bytea -- qgen:error
);
-- qgen:queue
CREATE TABLE note_json (
  id    numeric(20, 2) PRIMARY KEY,
  state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
  note  json -- qgen:error
);
-- qgen:queue
CREATE TABLE note_array (
  id    text[] PRIMARY KEY,
  state text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
  note  text[] -- qgen:error
);
-- qgen:queue done=delete
CREATE TABLE pair (host inet, bits bit(4), PRIMARY KEY (host, bits));
