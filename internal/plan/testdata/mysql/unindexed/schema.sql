-- An index holds no more than the beginning of a TEXT. Ready rows would be sorted, and those
-- that are sorted are all locked first, so each is taken by itself.
CREATE TABLE jobs ( -- qgen:queue jobs
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=new running=busy done=done
    since datetime(6)    -- qgen:claimed timeout=5m clock=utc
);
CREATE TABLE mails ( -- qgen:queue mails
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    state varchar(9) NOT NULL, -- qgen:status ready=new running=busy done=done
    kind  tinytext NOT NULL,   -- qgen:topic
    mark  blob                 -- qgen:token
);
