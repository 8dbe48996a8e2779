-- The claimed column holds 0 while nobody has the row, which is before every time: Recover asks for more than that.
-- qgen:queue events
CREATE TABLE events (
    id      bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    place   int unsigned NOT NULL,               -- qgen:priority asc
    state   varchar(20) NOT NULL,                -- qgen:status ready=waiting claimed=waiting running=busy done=complete failed=failed
    holder  varchar(20) NOT NULL,                -- qgen:worker free=''
    held_at bigint unsigned NOT NULL DEFAULT 0   -- qgen:claimed timeout=5m as=epoch free=0 expired=recover
);
