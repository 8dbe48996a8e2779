-- Keys that no signed number holds, and times as numbers.
-- qgen:queue
CREATE TABLE jobs (
    id          bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n           bigint NOT NULL,                        -- qgen:payload
    status      varchar(16) NOT NULL DEFAULT 'ready',   -- qgen:status ready=ready running=running done=done failed=failed
    tries       tinyint unsigned NOT NULL DEFAULT 0,    -- qgen:attempts up on=claim max=3
    lease_till  int unsigned,                           -- qgen:lease length=1h as=epoch
    finished_at int unsigned                            -- qgen:finished as=epoch
) ENGINE=InnoDB AUTO_INCREMENT=18446744073000000000;
