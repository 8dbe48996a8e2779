-- Orders are charged, and then their files are removed.
-- qgen:queue charge
CREATE TABLE orders (
  id         bigint PRIMARY KEY,
  created    timestamptz NOT NULL DEFAULT now(), -- qgen:enqueued
  state      text NOT NULL,                      -- qgen:status(charge) ready=new running=busy done=paid failed=bad
  held_till  timestamp,                          -- qgen:lease(charge,cleaner) length=5m
  files      int NOT NULL,
  priority   int NOT NULL,                       -- qgen:priority(mailer) desc
  mailed     boolean NOT NULL
);
-- Two queues have their own annotation, the third none.
-- qgen:queue charges done=delete
-- qgen:queue swept done=delete; where(swept) "priority > 3"
CREATE TABLE parcels (
  id         bigint PRIMARY KEY,
  priority   int NOT NULL, -- qgen:priority(charges) desc; order(swept)
  body       text
);
