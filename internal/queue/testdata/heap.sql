-- qgen:queue heap done=delete
CREATE TABLE heap (
  body  text,
  added timestamptz -- qgen:order
);
-- qgen:queue asked done=delete strategy=hold id=row
CREATE TABLE asked (
  id   int PRIMARY KEY,
  body text
);
-- A row may be without a report, so that names none.
-- qgen:queue perhaps done=delete
CREATE TABLE perhaps (
  report int UNIQUE,
  added  timestamptz -- qgen:order
);
-- No such row is a job, which steps that look for rows by their state ask as well.
-- qgen:queue reports
-- qgen:where "report is not null and added < {now}"
CREATE TABLE reports (
  report int UNIQUE,
  added  timestamptz NOT NULL, -- qgen:enqueued
  state  int NOT NULL          -- qgen:status ready=0 running=1 done=2 failed=3
);
