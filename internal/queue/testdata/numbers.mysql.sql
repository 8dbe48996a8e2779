-- Numbers that are truth, and numbers without sign.
CREATE TABLE jobs ( -- qgen:queue
  id     bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
  taken  tinyint(1) NOT NULL DEFAULT '0', -- qgen:status ready=0 running=1
  flag   bit(1) NOT NULL DEFAULT b'0',    -- qgen:status ready=0 done=1
  state  tinyint unsigned NOT NULL,       -- qgen:status ready=0 running=128 done=255
  since  datetime DEFAULT NULL,           -- qgen:claimed timeout=5m clock=utc
  body   json NOT NULL
);

-- tinyint(1) that holds more than truth.
CREATE TABLE small ( -- qgen:queue small
  id     bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
  state  tinyint(1) NOT NULL DEFAULT '-1', -- qgen:status ready=-1 running=1 done=2 failed=3
  tries  tinyint(1) NOT NULL DEFAULT 0,    -- qgen:attempts up on=claim max=most
  most   tinyint(1) NOT NULL DEFAULT 5,
  prio   tinyint(1) NOT NULL DEFAULT 0,    -- qgen:priority desc
  kind   tinyint(1) NOT NULL,              -- qgen:topic
  urgent boolean NOT NULL,                 -- qgen:topic
  mode   boolean NOT NULL DEFAULT 0,       -- qgen:on done set 7
  wait   tinyint(1) NOT NULL DEFAULT 1,
  since  timestamp NULL DEFAULT NULL,      -- qgen:claimed timeout=wait unit=m
  fast   tinyint(1) NOT NULL DEFAULT 0,    -- qgen:order 2
  dry    tinyint(1) NOT NULL DEFAULT 0,
  level  tinyint(1) NOT NULL DEFAULT 2,
  cold   boolean NOT NULL DEFAULT 0
);
