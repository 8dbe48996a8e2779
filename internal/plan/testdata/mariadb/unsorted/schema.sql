-- Jobs rise with their age: no index holds what changes by itself.
-- qgen:queue aged
-- qgen:order "urgency + timestampdiff(minute, made, {now})" desc
CREATE TABLE aged (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(8) NOT NULL, -- qgen:status ready=N running=A done=D
    urgency int NOT NULL,
    made    datetime(6) NOT NULL
);

-- An expression over the row alone.
-- qgen:queue sums
-- qgen:order "urgency + extra"
CREATE TABLE sums (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(8) NOT NULL, -- qgen:status ready=N running=A done=D
    urgency int NOT NULL,
    extra   int NOT NULL
);

-- The most urgent first, and of those the oldest.
-- qgen:queue urgent
CREATE TABLE urgent (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(8) NOT NULL, -- qgen:status ready=N running=A done=D
    urgency int NOT NULL -- qgen:priority desc
);

-- SQL tells which rows are ready, and no index leaves the others out.
-- qgen:queue flagged
CREATE TABLE flagged (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    flags   int NOT NULL, -- qgen:status ready~"flags % 8 = 0" ready:="flags - flags % 8" running:="flags + 1" running~"flags % 8 = 1" done:="flags + 2" done~"flags % 8 = 3"
    due     datetime(6) NOT NULL -- qgen:due
);

-- SQL tells which claims have run out.
-- qgen:queue watched
CREATE TABLE watched (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(8) NOT NULL, -- qgen:status ready=N running=A done=D
    seen    datetime(6)
);
