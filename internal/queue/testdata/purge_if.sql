CREATE TABLE jobs (
    id    bigint PRIMARY KEY, -- qgen:id
    made  timestamptz NOT NULL,
    till  timestamptz, -- qgen:expires
    state text NOT NULL -- qgen:status ready=new running=busy done=done failed=dead
);
