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

-- All that the index of the groups would hold is longer than an index may be. The server ends
-- it with the key.
CREATE TABLE jobs (
    scheduler varchar(120) NOT NULL,
    name      varchar(190) NOT NULL,
    kind      varchar(190) NOT NULL,
    PRIMARY KEY (scheduler, name, kind)
) ENGINE=InnoDB;
CREATE TABLE triggers (
    scheduler varchar(120) NOT NULL,
    name      varchar(190) NOT NULL,
    kind      varchar(190) NOT NULL,
    job       varchar(190) NOT NULL,
    job_kind  varchar(190) NOT NULL,
    state     varchar(16) NOT NULL,         -- qgen:status ready=WAITING running=ACQUIRED done=COMPLETE
    fire_at   bigint NOT NULL,              -- qgen:due as=epoch_ms; order 1
    priority  int NOT NULL,                 -- qgen:order 2 desc
    till      timestamp(6) NULL,            -- qgen:lease length=5m
    PRIMARY KEY (scheduler, name, kind)
) ENGINE=InnoDB;

-- Of these orders no index can be made whole: the first is too long, and a text of the second
-- stands in an index with its beginning only. Of the third not even the topic fits.
CREATE TABLE paths (
    id     bigint NOT NULL PRIMARY KEY,
    bucket varchar(60) NOT NULL,            -- qgen:topic
    path   varchar(750) NOT NULL,           -- qgen:order 1
    state  char(1) NOT NULL DEFAULT 'r',    -- qgen:status ready=r running=x done=d
    till   timestamp(6) NULL                -- qgen:lease length=5m
);
CREATE TABLE titles (
    id    bigint NOT NULL PRIMARY KEY,
    title tinytext NOT NULL,                -- qgen:order 1
    state char(1) NOT NULL DEFAULT 'r',     -- qgen:status ready=r running=x done=d
    till  timestamp(6) NULL                 -- qgen:lease length=5m
);
CREATE TABLE topics (
    id    bigint NOT NULL PRIMARY KEY,
    topic text NOT NULL,                    -- qgen:topic
    till  timestamp(6) NULL                 -- qgen:lease length=5m
);

-- A column that is null until the job is done is the same in ready rows and in those whose
-- claim ran out, and leads the index of both.
-- qgen:queue fetched
CREATE TABLE fetched (
    id        bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    completed datetime,         -- qgen:status ready=null running=null done=now
    fetched   datetime,         -- qgen:claimed timeout=30m
    prio      int NOT NULL,     -- qgen:priority asc
    KEY completed_prio (completed, prio)
);

-- The server reads no invisible index, and refuses its name in a hint.
-- qgen:queue hidden
CREATE TABLE hidden (
    place bigint NOT NULL,
    id    bigint NOT NULL, -- qgen:id
    state char(1) NOT NULL DEFAULT 'r', -- qgen:status ready=r running=x done=d
    PRIMARY KEY (place),
    UNIQUE KEY hidden_id (id) /*!80000 INVISIBLE */,
    KEY hidden_state (state, id) /*!80000 INVISIBLE */
);

-- An index is read from either end; that which begins with the state finds what runs.
CREATE TABLE results (
    id       int NOT NULL AUTO_INCREMENT PRIMARY KEY, -- qgen:order 2 desc
    state    int NOT NULL DEFAULT 2,      -- qgen:status ready=2 running=4 done=5
    priority int NOT NULL DEFAULT 0,      -- qgen:order 1 desc
    since    datetime,                    -- qgen:claimed timeout=10m clock=utc
    KEY ind_res_st (state, priority)
);
-- Behind the whole order: rows of other rooms are read, too.
CREATE TABLE rooms (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    room  varchar(50) NOT NULL,           -- qgen:topic
    state char(1) NOT NULL DEFAULT 'r',   -- qgen:status ready=r running=x done=d
    KEY state_id (state, id, room)
);
-- What an index begins with may be the same in rows that failed, which stay.
-- qgen:queue matches done=delete
CREATE TABLE matches (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    worker  int,                          -- qgen:status ready~"worker is null or worker = 0" ready:=null running~"worker > 0" running:=worker failed~"worker < 0" failed:="-worker"
    deleted tinyint(1) NOT NULL DEFAULT 0 -- qgen:status ready~0 running~0 failed~0
);
-- Callers ask for several kinds, or for none: the kind stands at the end.
-- qgen:queue kinds done=delete
CREATE TABLE kinds (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind  int NOT NULL,                 -- qgen:topic list
    shop  int NOT NULL,                 -- qgen:topic optional
    state char(1) NOT NULL DEFAULT 'r'  -- qgen:status ready=r running=x
);

-- What runs is told by bounds: an index of that column leads to it, and to nothing that has ended.
-- qgen:queue graded
CREATE TABLE graded (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    progress int NOT NULL DEFAULT 0, -- qgen:status ready=0 running~"progress > 0 and progress < 100" running:=1 done=100
    since    datetime,               -- qgen:claimed timeout=10m clock=utc
    KEY graded_progress (progress)
);
-- qgen:queue ungraded
CREATE TABLE ungraded (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    progress int NOT NULL DEFAULT 0, -- qgen:status ready=0 running~"progress > 0 and progress < 100" running:=1 done=100
    since    datetime                -- qgen:claimed timeout=10m clock=utc
);
