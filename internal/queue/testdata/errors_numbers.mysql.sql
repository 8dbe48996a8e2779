CREATE TABLE wrong ( -- qgen:queue
  id    int unsigned PRIMARY KEY,
  state tinyint unsigned NOT NULL, -- qgen:status ready=-1 running=256 done=1
  flag  tinyint(1) NOT NULL,       -- qgen:status ready=0 running=200
  shut  bit(1) NOT NULL            -- qgen:status ready=0 running=2
);
