-- Everything that a claim asks for stands in the key.
CREATE TABLE timers (
    shard int         NOT NULL, -- qgen:topic
    due   datetime(6) NOT NULL, -- qgen:due clock=utc; order 1
    id    bigint      NOT NULL,
    data  text,
    PRIMARY KEY (shard, due, id)
);

-- An index ends with the key of the table, which orders the rows of one topic.
-- qgen:queue ended
CREATE TABLE ended (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    topic varchar(50) NOT NULL,             -- qgen:topic
    state char(1) NOT NULL DEFAULT 'r',     -- qgen:status ready=r running=x done=d
    KEY state_topic (state, topic)
) ENGINE=InnoDB;

-- MyISAM keeps its rows apart, so nothing follows the columns of an index.
CREATE TABLE apart (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    topic varchar(50) NOT NULL,             -- qgen:topic
    state char(1) NOT NULL DEFAULT 'r',     -- qgen:status ready=r running=x done=d
    KEY state_topic (state, topic)
) ENGINE=MyISAM;

-- Nor does it help behind a part of a column.
-- qgen:queue parts
CREATE TABLE parts (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    topic varchar(50) NOT NULL,             -- qgen:topic
    state char(1) NOT NULL DEFAULT 'r',     -- qgen:status ready=r running=x done=d
    KEY state_topic (state, topic(10))
);

-- The topic is one for all rows that are read, and may stand amid the order. The state may
-- not: by parked_rank all rows that have ended would be read.
-- qgen:queue amid
CREATE TABLE amid (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    topic varchar(50) NOT NULL,             -- qgen:topic
    grade int NOT NULL,                     -- qgen:order 1
    state char(1) NOT NULL DEFAULT 'r',     -- qgen:status ready=r running=x done=d
    KEY parked_rank (grade, state, topic, id),
    KEY state_rank (state, grade, topic, id)
);
