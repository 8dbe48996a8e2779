-- A stage takes what has ended in the queue by any of several values, and passes over what waits there.
CREATE TABLE events (
    id     bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    place  int unsigned NOT NULL,  -- qgen:priority(events) asc
    state  varchar(20) NOT NULL,   -- qgen:status(events) ready=waiting running=busy done=complete|skipped failed=failed; status(history) ready=complete|skipped|failed
    until  bigint unsigned         -- qgen:lease(events) length=5m as=epoch
) ENGINE=InnoDB;
CREATE TABLE old_events (
    id     bigint unsigned NOT NULL PRIMARY KEY,
    place  int unsigned NOT NULL,
    state  varchar(20) NOT NULL,
    until  bigint unsigned
) ENGINE=InnoDB;
-- The same with an index that begins with the state.
CREATE TABLE served (
    id     bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    place  int unsigned NOT NULL,  -- qgen:priority(served) asc
    state  varchar(20) NOT NULL,   -- qgen:status(served) ready=waiting running=busy done=complete|skipped failed=failed; status(past) ready=complete|skipped|failed
    until  bigint unsigned,        -- qgen:lease(served) length=5m as=epoch
    KEY served_state (state, place, id)
) ENGINE=InnoDB;
