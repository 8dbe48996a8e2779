CREATE TABLE jobs (
    id    bigint PRIMARY KEY, -- qgen:id
    made  timestamptz NOT NULL,
    state text NOT NULL -- qgen:status ready=new claimed=taken running=busy done=done failed=dead
);
