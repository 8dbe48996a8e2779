-- Rows that are switched off stand before those that are ready, and one value of the switch leads past them.
CREATE TABLE syncs (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    user1    varchar(255) NOT NULL,
    active   tinyint NOT NULL DEFAULT 0,
    running  tinyint NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1
    last_run datetime                    -- qgen:due null=now add=1h; order 1
);
-- With an index that begins with the switch.
CREATE TABLE served (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    user1    varchar(255) NOT NULL,
    active   tinyint NOT NULL DEFAULT 0,
    running  tinyint NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1
    last_run datetime,                   -- qgen:due null=now add=1h; order 1
    KEY served_ready (active, running, last_run)
);
-- The condition is more than that, and an index without the switch serves as well.
CREATE TABLE mixed (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    user1    varchar(255) NOT NULL,
    active   tinyint NOT NULL DEFAULT 0,
    running  tinyint NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1
    last_run datetime,                   -- qgen:due null=now add=1h; order 1
    KEY mixed_ready (running, last_run)
);
-- An index that begins with the switch goes before one that is in the order alone, whatever else it lacks.
CREATE TABLE both_keys (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    team     varchar(64) NOT NULL,
    priority int NOT NULL,
    paused   tinyint NOT NULL DEFAULT 0,
    body     text,
    KEY by_order (priority, id),
    KEY by_switch (paused, priority, id)
);
