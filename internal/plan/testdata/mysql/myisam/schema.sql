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
