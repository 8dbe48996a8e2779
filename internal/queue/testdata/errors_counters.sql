-- qgen:queue
CREATE TABLE jobs (
    id    bigserial PRIMARY KEY,
    state int NOT NULL DEFAULT 0,      -- qgen:status ready=0 running=1 done=2
    tries smallint NOT NULL DEFAULT 0  -- qgen:attempts up on=claim max=40000
);
