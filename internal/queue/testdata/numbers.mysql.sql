-- Numbers that are truth, and numbers without sign.
CREATE TABLE jobs ( -- qgen:queue
  id     bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
  taken  tinyint(1) NOT NULL DEFAULT '0', -- qgen:status ready=0 running=1
  flag   bit(1) NOT NULL DEFAULT b'0',    -- qgen:status ready=0 done=1
  state  tinyint unsigned NOT NULL,       -- qgen:status ready=0 running=128 done=255
  since  datetime DEFAULT NULL,           -- qgen:claimed timeout=5m clock=utc
  body   json NOT NULL
);
