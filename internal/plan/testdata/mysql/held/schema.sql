-- A row lock is the claim. What changes by itself, or in other tables, does not take the job
-- from its holder.
CREATE TABLE items (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind       varchar(10) NOT NULL,
    due_at     bigint NULL,                   -- qgen:due as=epoch
    expires_at bigint NULL,                   -- qgen:expires as=epoch
    body       varchar(200) NOT NULL
) ENGINE=InnoDB;

CREATE TABLE holds (
    item_id bigint NOT NULL PRIMARY KEY
) ENGINE=InnoDB;

-- A number for the worker, of which 0 says that nobody has the row.
CREATE TABLE pids (
    id   bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    pid  tinyint unsigned NOT NULL DEFAULT 0, -- qgen:worker free=0
    done int NOT NULL DEFAULT 0               -- qgen:status ready=0 running=0 done=1
) ENGINE=InnoDB;
