CREATE TABLE jobs (
    id bigint NOT NULL PRIMARY KEY,
    st varchar(8) NOT NULL -- qgen:status ready=a running=b done=c
);
CREATE TABLE isam (
    id bigint NOT NULL PRIMARY KEY,
    st varchar(8) NOT NULL -- qgen:status ready=a running=b done=c
) ENGINE=MyISAM;
CREATE TABLE jobs_claims (
    id    bigint NOT NULL PRIMARY KEY,
    owner varchar(40) NOT NULL,
    since datetime(6) NOT NULL
);
CREATE TABLE away (
    id bigint NOT NULL PRIMARY KEY
);
CREATE TABLE running (
    id bigint NOT NULL PRIMARY KEY,
    since datetime(6) NOT NULL -- qgen:claimed
);
