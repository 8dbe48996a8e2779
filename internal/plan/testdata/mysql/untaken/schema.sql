-- The claimed column holds 0 while nobody has the row, which is before every time: Recover asks for more than that.
-- qgen:queue events
CREATE TABLE events (
    id      bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    place   int unsigned NOT NULL,               -- qgen:priority asc
    state   varchar(20) NOT NULL,                -- qgen:status ready=waiting claimed=waiting running=busy done=complete failed=failed
    holder  varchar(20) NOT NULL,                -- qgen:worker free=''
    held_at bigint unsigned NOT NULL DEFAULT 0   -- qgen:claimed timeout=5m as=epoch free=0 expired=recover
) ENGINE=InnoDB;

-- The index of the claim finds the rows that somebody has as well.
-- qgen:queue served
CREATE TABLE served (
    id      bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    place   int unsigned NOT NULL,               -- qgen:priority asc
    state   varchar(20) NOT NULL,                -- qgen:status ready=waiting claimed=waiting running=busy done=complete failed=failed
    holder  varchar(20) NOT NULL,                -- qgen:worker free=''
    held_at bigint unsigned NOT NULL DEFAULT 0,  -- qgen:claimed timeout=5m as=epoch free=0 expired=recover
    KEY served_ready (state, holder, place, id)
) ENGINE=InnoDB;

-- The status tells it by one value.
-- qgen:queue told
CREATE TABLE told (
    id      bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(20) NOT NULL,                -- qgen:status ready=waiting running=busy done=complete failed=failed
    held_at bigint unsigned NOT NULL DEFAULT 0   -- qgen:claimed timeout=5m as=epoch free=0 expired=recover
) ENGINE=InnoDB;

-- What each claim leaves in the column of the worker is compared beside the time, which counts seconds.
-- qgen:queue drawn
CREATE TABLE drawn (
    id      bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(20) NOT NULL,                -- qgen:status ready=waiting done=complete
    holder  varchar(20) NOT NULL,                -- qgen:worker free=''; on claim set "left(sha2(uuid(), 256), 20)"
    held_at bigint unsigned NOT NULL DEFAULT 0   -- qgen:claimed timeout=5m as=epoch free=0 expired=recover
) ENGINE=InnoDB;
