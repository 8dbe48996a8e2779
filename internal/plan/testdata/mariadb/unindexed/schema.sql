-- An index holds no more than the beginning of a TEXT, which leads to the rows of one value in the order of
-- what stands behind it.
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

-- Indexes have the beginning of what is asked for, and its rows are in order behind it.
CREATE TABLE pages (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, -- qgen:id
    url   text NOT NULL,                              -- qgen:topic
    state text NOT NULL,                              -- qgen:status ready=new running=busy done=done failed=failed
    KEY url_state (url(20), state(10), id)
);

-- One begins with what tells ready rows, of which others begin alike.
CREATE TABLE fetches (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, -- qgen:id
    state varchar(100) NOT NULL,                      -- qgen:status ready=waiting-for-a-worker running=busy done=done failed=failed
    -- qgen:order 1
    day   datetime NOT NULL,                          -- qgen:due clock=utc
    KEY state_day (state(9), day)
);

-- Of several values each has its rows in order, and what stands beside a new job is found by its beginning.
CREATE TABLE feeds (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, -- qgen:id
    state text NOT NULL,                              -- qgen:status ready=new|again running=busy done=done failed=failed
    url   text NOT NULL                               -- qgen:payload
);

-- Too long for an index, and compared with one value.
CREATE TABLE crawls (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, -- qgen:id
    url   varchar(2000) NOT NULL,                     -- qgen:topic
    state varchar(20) NOT NULL                        -- qgen:status ready=new running=busy done=done failed=failed
);
