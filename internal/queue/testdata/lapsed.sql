-- A status that says running, and a claim that is simply taken again when it has run out.
-- qgen:queue lapsed
CREATE TABLE lapsed (
  id     bigserial PRIMARY KEY,
  st     text NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=C failed=E
  until  timestamptz,               -- qgen:lease length=arg expired=claim
  beat   timestamptz,               -- qgen:heartbeat timeout=2m
  tries  int NOT NULL DEFAULT 0     -- qgen:attempts up on=retry max=limits
  ,limits int
);
