-- An index has no row whose columns are all null, so that one on NODEID leads to none that is free.
CREATE TABLE drawn (
    jobid  VARCHAR2(64) PRIMARY KEY,
    ts     NUMBER(19) NOT NULL,
    nodeid VARCHAR2(64)
);
CREATE TABLE unled (
    jobid  VARCHAR2(64) PRIMARY KEY,
    ts     NUMBER(19) NOT NULL,
    nodeid VARCHAR2(64),
    kind   VARCHAR2(10)
);
CREATE INDEX unled_nodeid ON unled (nodeid);
CREATE INDEX unled_kind ON unled (nodeid, kind);

-- What is never null has all of them in the index.
CREATE TABLE ended (
    jobid  VARCHAR2(64) PRIMARY KEY,
    ts     NUMBER(19) NOT NULL,
    nodeid VARCHAR2(64)
);
CREATE INDEX ended_nodeid ON ended (nodeid, 0);
CREATE TABLE timed (
    jobid  VARCHAR2(64) PRIMARY KEY,
    ts     NUMBER(19) NOT NULL,
    nodeid VARCHAR2(64)
);
CREATE INDEX timed_nodeid ON timed (nodeid);
CREATE INDEX timed_node_ts ON timed (nodeid, ts);
-- Text without characters is null.
CREATE TABLE marked (
    jobid  VARCHAR2(64) PRIMARY KEY,
    ts     NUMBER(19) NOT NULL,
    nodeid VARCHAR2(64)
);
CREATE INDEX marked_nodeid ON marked (nodeid, '');

-- Rows that somebody has are not null there.
CREATE TABLE owned (
    jobid  VARCHAR2(64) PRIMARY KEY,
    nodeid VARCHAR2(64)
);
CREATE INDEX owned_nodeid ON owned (nodeid);

-- Both columns of the index may be null.
CREATE TABLE dated (
    id     NUMBER(19) PRIMARY KEY,
    due    TIMESTAMP,
    done   TIMESTAMP
);
CREATE INDEX dated_done ON dated (done, due);
