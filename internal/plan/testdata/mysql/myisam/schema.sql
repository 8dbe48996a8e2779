-- An engine that has neither transactions nor row locks.
CREATE TABLE mails (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=C failed=E
    body  text NOT NULL                 -- qgen:payload
) ENGINE=MyISAM;

-- The time of the claim and who made it; of one kind at a time.
CREATE TABLE prints (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind     varchar(20) NOT NULL,  -- qgen:topic
    until_at datetime(6),           -- qgen:lease length=5m clock=utc expired=claim
    who      varchar(40),           -- qgen:worker
    tries    int,                   -- qgen:attempts down max=3
    body     text NOT NULL          -- qgen:payload
) ENGINE=MyISAM;

-- This one would keep an index as hashes, which give no order. None of them keeps a falling
-- order, so what falls and rises is sorted; what only falls is read from the end.
CREATE TABLE hopper (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    campaign varchar(20) NOT NULL,     -- qgen:topic
    state    char(1) NOT NULL,         -- qgen:status ready=N running=A done=C
    priority int NOT NULL              -- qgen:order 1 desc
) ENGINE=MEMORY;
CREATE TABLE calls (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,  -- qgen:order 2 desc
    state    char(1) NOT NULL,         -- qgen:status ready=N running=A done=C
    priority int NOT NULL              -- qgen:order 1 desc
) ENGINE=MEMORY;
-- A condition that reads other rows sees them as they are: the engine runs the UPDATE of each row alone.
CREATE TABLE steps (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    batch int NOT NULL,
    state char(1) NOT NULL             -- qgen:status ready=N running=A done=C
) ENGINE=MyISAM;
