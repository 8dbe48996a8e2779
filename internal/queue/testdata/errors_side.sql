CREATE TABLE requests (
    id     bigint PRIMARY KEY,
    done   int NOT NULL -- qgen:status ready=0 done=1
);
CREATE TABLE claims (
    request_id bigint NOT NULL,
    holder     int,
    since      int,
    ends_at    timestamp,
    mark       char(8)
);
CREATE TABLE pairs (
    a    int NOT NULL,
    b    int NOT NULL,
    done int NOT NULL, -- qgen:status ready=0 done=1
    PRIMARY KEY (a, b)
);
CREATE TABLE pair_claims (a int PRIMARY KEY);
CREATE TABLE x.twice (a int PRIMARY KEY);
CREATE TABLE y.twice (a int PRIMARY KEY);
CREATE TABLE held (request_id bigint PRIMARY KEY, holder int, tries int, mark char(32));
CREATE TABLE runs (request_id bigint NOT NULL, state text NOT NULL, holder int);
CREATE UNIQUE INDEX runs_one ON runs (request_id) WHERE state = 'running';
