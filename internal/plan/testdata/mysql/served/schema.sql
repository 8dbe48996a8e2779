-- Rows that somebody has are found by the time of their lease, and among these, which are few,
-- the one that a token names.
CREATE TABLE requests (
    client     bigint unsigned NOT NULL,
    flow       bigint unsigned NOT NULL,
    leased_till timestamp(6) NULL,    -- qgen:lease length=10m free=null expired=claim; order 1
    leased_by  varchar(128),          -- qgen:token free=null; order 2
    PRIMARY KEY (client, flow),
    KEY requests_lease (leased_till, leased_by)
);
-- Here a job that has ended keeps the time.
CREATE TABLE replies (
    id         bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    leased_till timestamp(6) NULL,    -- qgen:lease length=10m free=null expired=claim; order 1
    leased_by  varchar(128),          -- qgen:token free=null
    sent       datetime(6) NULL,      -- qgen:finished
    KEY replies_lease (leased_till, leased_by)
);
-- An index with the time and what the server would sort for is in the order of the time: claims
-- leave the key out, which would have them sort, and lock, all ready rows.
-- qgen:queue events
CREATE TABLE events (
    fleet  int NOT NULL PRIMARY KEY,
    at     int NOT NULL,              -- qgen:due as=epoch; order 1
    marked varchar(32) DEFAULT NULL,  -- qgen:token
    KEY marked (marked, at)
) ENGINE=MyISAM;
-- qgen:queue works
CREATE TABLE works (
    id     bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state  char(1) NOT NULL DEFAULT 'r',  -- qgen:status ready=r running=x done=d failed=f
    due_at datetime(6) NOT NULL,          -- qgen:due; order 1
    kind   int NOT NULL,
    since  datetime(6) NULL,              -- qgen:claimed timeout=5m
    KEY works_due (state, due_at, kind)
);
-- Of one priority there are very many, and they come in the order of the key. So do those of
-- one day.
-- qgen:queue ranks
CREATE TABLE ranks (
    id    bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state char(1) NOT NULL DEFAULT 'r',  -- qgen:status ready=r running=x done=d
    grade int NOT NULL,                  -- qgen:priority asc
    kind  int NOT NULL,
    KEY ranks_grade (state, grade, kind)
);
-- qgen:queue dates
CREATE TABLE dates (
    id    bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state char(1) NOT NULL DEFAULT 'r',  -- qgen:status ready=r running=x done=d
    day   date NOT NULL,                 -- qgen:order 1
    kind  int NOT NULL,
    KEY dates_day (state, day, kind)
);
-- What is sorted anyway is found by the time as well, so that rows that wait are not read.
-- qgen:queue draws
CREATE TABLE draws (
    id     bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state  char(1) NOT NULL DEFAULT 'r',  -- qgen:status ready=r running=x done=d
    room   varchar(40) NOT NULL,          -- qgen:topic
    due_at datetime(6) NULL               -- qgen:due
);
-- Nobody has a job that failed, as with one that is ready: the status tells the two apart and
-- leads the index.
-- qgen:queue descriptors
CREATE TABLE descriptors (
    id     int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state  varchar(16),             -- qgen:status ready=New|Waiting running=Running done=Complete failed=Broken
    kind   varchar(16) NOT NULL,    -- qgen:topic
    worker varchar(32),             -- qgen:token free=null; status ready=null; on fail,giveup set null
    beat   datetime NULL,           -- qgen:heartbeat timeout=5m expired=recover
    resets int NOT NULL DEFAULT 0   -- qgen:attempts up on=recover max=3
);
-- The order is made of other rows, and nothing tells ready rows from those that have a claim that is
-- good: no index serves, and none is forced on the server.
-- qgen:queue entries
CREATE TABLE entries (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    house varchar(100) NULL,
    added datetime(6) NOT NULL,  -- qgen:enqueued
    beat  datetime(6) NULL       -- qgen:claimed timeout=10m expired=claim
);
-- A condition of all rows is a column of one value: an index that begins with it serves, also
-- one that finds the rows that somebody has.
-- qgen:queue matchups done=delete; where "deleted = 0"
CREATE TABLE matchups (
    id      int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    worker  int NULL,                          -- qgen:status ready=null running~"worker > 0" running:=worker failed~"worker < 0" failed:="-1 * worker"
    since   datetime NULL,                     -- qgen:claimed timeout=40m expired=recover
    deleted tinyint(1) NOT NULL DEFAULT 0,
    KEY matchups_deleted (deleted, worker)
);
-- qgen:queue crafts done=delete; where "channel = 'queue'"
CREATE TABLE crafts (
    id       int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    channel  varchar(40) NOT NULL DEFAULT 'queue',
    fail     tinyint(1) NOT NULL DEFAULT 0,    -- qgen:status ready=0 running=0 failed=1
    beat     int NULL,                         -- qgen:status ready=null running=now; heartbeat as=epoch timeout=10m expired=recover
    priority int NOT NULL DEFAULT 0,           -- qgen:priority asc
    KEY crafts_claim (channel, fail, beat, priority, id)
);
-- An index of the claim that is there and does not find who has a row is not in the head of Recover.
-- qgen:queue channels done=delete
CREATE TABLE channels (
    id       int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    channel  varchar(40) NOT NULL,             -- qgen:topic
    fail     tinyint(1) NOT NULL DEFAULT 0,    -- qgen:status ready=0 running=0 failed=1
    beat     int NULL,                         -- qgen:status ready=null running=now; heartbeat as=epoch timeout=10m expired=recover
    priority int NOT NULL DEFAULT 0,           -- qgen:priority asc
    KEY channels_claim (channel, fail, beat, priority, id)
);
-- Calls that have ended keep the time: the index for Recover begins with the states that run.
-- qgen:queue calls
CREATE TABLE calls (
    id       int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    campaign int NOT NULL,          -- qgen:topic
    status   varchar(16) NULL,      -- qgen:status ready~"status is null or status not in ('Success', 'Placing', 'Ringing')" ready:=Failure running=Placing|Ringing done=Success; on enqueue set null
    began    datetime NULL,         -- qgen:claimed timeout=1h expired=recover; on done set old
    KEY calls_campaign (campaign)
);
-- An index of the name that the advice would have is there and does not serve.
CREATE TABLE items (
    id        int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    transport varchar(8) NOT NULL,  -- qgen:topic
    created   datetime NOT NULL,    -- qgen:enqueued; order 1
    claimed   datetime NULL,        -- qgen:claimed timeout=30m expired=recover; status ready=null running=now
    KEY items_ready (claimed, created, id)
);
-- Of a ring that has one part yet the key leads to the rows that wait, in their order.
-- qgen:queue leaves strategy=pop locked=wait done=delete
-- qgen:where "part = 0"
CREATE TABLE leaves (
    tree      bigint NOT NULL, -- qgen:topic
    part      int NOT NULL,
    queued    bigint NOT NULL, -- qgen:topic max; order 1
    hash      varbinary(255) NOT NULL, -- qgen:order 2
    PRIMARY KEY (tree, part, queued, hash)
);
