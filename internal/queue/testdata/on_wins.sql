-- One column is the time of the claim and of the next run; what stands behind "on" says which holds.
-- qgen:queue tasks cycle
CREATE TABLE tasks (
  id      int PRIMARY KEY,
  seconds int NOT NULL,
  started timestamptz, -- qgen:claimed timeout=seconds expired=claim; due add=seconds; on done,retry,release set now
  enabled boolean NOT NULL -- qgen:status ready=true running=true failed=false
);
