-- qgen:queue
CREATE TABLE inbox (
  id        INTEGER PRIMARY KEY,
  body      TEXT,
  locked_at DATETIME,                          -- qgen:claimed timeout=90s as=epoch
  tries     INTEGER,                           -- qgen:attempts max=4
  processed BOOLEAN NOT NULL DEFAULT 0 CHECK (processed IN (0, 1)), -- qgen:status ready=0 done=1
  added     DATETIME DEFAULT CURRENT_TIMESTAMP -- qgen:enqueued
);
