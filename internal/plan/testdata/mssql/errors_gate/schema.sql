CREATE TABLE jobs (
    id bigint NOT NULL PRIMARY KEY,
    st varchar(8) NOT NULL -- qgen:status ready=a running=b done=c
);
