-- qgen:queue files strategy=partition
CREATE TABLE files (
  name      text PRIMARY KEY,
  hash_code int,                            -- qgen:shard mod
  processed boolean NOT NULL DEFAULT false  -- qgen:status ready=false done=true
);
-- qgen:queue hashed strategy=partition; shard hash="hashtext({row}.name)"
CREATE TABLE files_hashed (
  name      text PRIMARY KEY,
  processed boolean NOT NULL DEFAULT false  -- qgen:status ready=false done=true
);
