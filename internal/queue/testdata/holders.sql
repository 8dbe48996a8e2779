-- What the status says of ready rows holds of running ones as well, and a claim leaves it: who has
-- the row is then what tells them apart.
-- qgen:queue reminders done=delete recover=own
-- qgen:where "kind <= 3"
CREATE TABLE reminders (id bigint PRIMARY KEY, kind int NOT NULL,
  at int NOT NULL DEFAULT 0, -- qgen:status ready~"at <> 0" running~"at <> 0"; on claim,recover,release,retry set old
  holder int NOT NULL DEFAULT 0 -- qgen:worker free=0
);
-- qgen:queue tokens done=delete
CREATE TABLE tokens (id bigint PRIMARY KEY,
  at int NOT NULL DEFAULT 0, -- qgen:status ready~"at > 0" running~"at > 0 and at < 100"; on claim,release,retry set old
  holder text -- qgen:token
);
-- qgen:queue leases done=delete
CREATE TABLE leases (id bigint PRIMARY KEY,
  at int NOT NULL DEFAULT 0, -- qgen:status ready~"at <> 0" running~"at <> 0"; on claim,release,retry set old
  until timestamptz -- qgen:lease length=5m free=null
);

-- Here the status tells them apart, or the claim writes what is asked.
-- qgen:queue written done=delete
CREATE TABLE written (id bigint PRIMARY KEY,
  at int NOT NULL DEFAULT 0, -- qgen:status ready~"at < 5" running~"at > 0"; on claim set 9; on release,retry set 0
  holder text -- qgen:worker
);
-- qgen:queue asked done=delete
-- qgen:where "holder is null"
CREATE TABLE asked (id bigint PRIMARY KEY,
  at int NOT NULL DEFAULT 0, -- qgen:status ready~"at <> 0" running~"at <> 0"; on claim,release,retry set old
  holder text -- qgen:worker
);

-- Nothing but the status tells them apart, and ready_if asks what a claim leaves as it is.
-- qgen:queue alone done=delete
-- qgen:where "at <= extract(epoch from {now})"
CREATE TABLE alone (id bigint PRIMARY KEY, by text, -- qgen:on claim set 'x'; on retry,release set null
  at int NOT NULL DEFAULT 0 -- qgen:status ready~"at <> 0" running~"at <> 0"; on claim,release,retry set old
);
-- That may leave out the rows that run, so it is no more than a note.
-- qgen:queue perhaps done=delete
-- qgen:where "at <= extract(epoch from {now})"
CREATE TABLE perhaps (id bigint PRIMARY KEY, by text, -- qgen:on claim set 'x'; on retry,release set null
  at int NOT NULL DEFAULT 0 -- qgen:status ready~"at > 0" running~"at > 5"; on claim,release,retry set old
);
-- qgen:queue leaves done=delete
-- qgen:where "at <= 5"
-- qgen:where "at < extract(epoch from {now}) or by is null"
CREATE TABLE leaves (id bigint PRIMARY KEY, by text, -- qgen:on claim set 'x'; on retry,release set null
  at int NOT NULL DEFAULT 0 -- qgen:status ready~"at > 0" running~"at > 5"; on claim,release,retry set old
);
-- qgen:queue writes done=delete
-- qgen:where "at <= {now} or at is null"
CREATE TABLE writes (id bigint PRIMARY KEY,
  at timestamptz DEFAULT now(), -- qgen:status ready~"true" running~"at is not null and true"; on claim set "now() + interval '1 hour'"; on retry,release set null
  k int -- qgen:on claim set 1; on retry,release set null
);
