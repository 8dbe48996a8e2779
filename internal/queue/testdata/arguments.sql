-- qgen:queue
CREATE TABLE jobs (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL,             -- qgen:status ready=new running=busy done=sent failed=bad
    till   timestamptz,               -- qgen:lease length=5m expired=recover
    tries  int NOT NULL DEFAULT 0,    -- qgen:attempts up on=claim max=3
    batch  bigint,                    -- qgen:token free=null from=companion
    body   text
);
CREATE TABLE batches (
    id     bigserial PRIMARY KEY,
    host   text NOT NULL
);
CREATE TABLE parts (
    job_id bigint NOT NULL,
    code   int NOT NULL DEFAULT 0,
    who    text,
    note   text
);
