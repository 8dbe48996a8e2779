-- One index leads to the rows of Claim, Recover and Purge: what tells running rows stands before a time that is null in
-- all but finished ones.
-- qgen:queue tasks purge=done
CREATE TABLE tasks (
    id        int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    priority  tinyint NOT NULL DEFAULT 5,            -- qgen:priority desc
    deadline  datetime NOT NULL,                     -- qgen:lease length=1h expired=fail
    completed datetime DEFAULT NULL,                 -- qgen:finished; status ready=null done~set done:=now
    locked    tinyint unsigned NOT NULL DEFAULT 0,   -- qgen:status ready=0 running=1 done=0 failed:=0
    error     tinyint unsigned NOT NULL DEFAULT 0    -- qgen:status ready=0 running=0 done=0 failed=1
) ENGINE=MyISAM;
-- By a condition.
-- qgen:queue conds purge=done
CREATE TABLE conds (
    id        int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    deadline  datetime NOT NULL,
    completed datetime DEFAULT NULL,                 -- qgen:finished; status ready=null done~set done:=now
    locked    tinyint unsigned NOT NULL DEFAULT 0,   -- qgen:status ready=0 running=1 done=0 failed:=0
    error     tinyint unsigned NOT NULL DEFAULT 0    -- qgen:status ready=0 running=0 done=0 failed=1
) ENGINE=InnoDB;
