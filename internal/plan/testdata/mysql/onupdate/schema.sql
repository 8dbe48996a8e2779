-- The server writes taken, added and touched with every change of a row. The first two
-- mean something to the queue and stay what they are; touched tells the last change.
-- qgen:queue jobs
CREATE TABLE jobs (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(10) NOT NULL, -- qgen:status ready=new claimed=held running=busy done=done failed=failed
    tries   int NOT NULL DEFAULT 0, -- qgen:attempts max=5
    taken   timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), -- qgen:claimed
    beat    datetime(6), -- qgen:heartbeat timeout=5m
    added   timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, -- qgen:enqueued; order
    touched timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    body    text
);
-- Before MySQL 8.0 the server writes made as well, unless a setting says that it does not.
-- qgen:queue mails done=delete
CREATE TABLE mails (
    id     int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    made   timestamp NOT NULL, -- qgen:enqueued; order
    holder varchar(64) NULL,   -- qgen:worker
    seen   timestamp NULL      -- qgen:heartbeat timeout=1m
);
-- The claims of letters: since when has to stay what it is while a job waits.
-- qgen:queue letters done=delete
CREATE TABLE letters (
    id   int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    body text NOT NULL
);
CREATE TABLE letter_claims (
    letter_id int NOT NULL PRIMARY KEY,
    mark      char(32) NULL,
    since     timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    ends_at   datetime NOT NULL,
    problem   text
);
-- Rows come in the order of their last change, and a claim is one: what it returns is not sorted by that.
-- qgen:queue turns
CREATE TABLE turns (
    id      int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(10) NOT NULL, -- qgen:status ready=new running=busy done=done
    changed timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), -- qgen:order
    body    text,
    KEY turns_in_turn (state, changed)
);
