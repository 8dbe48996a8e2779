-- An engine that has neither transactions nor row locks.
CREATE TABLE mails (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=C failed=E
    body  text NOT NULL                 -- qgen:payload
) ENGINE=MyISAM;
