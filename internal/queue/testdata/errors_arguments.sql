-- qgen:queue
CREATE TABLE jobs (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL,             -- qgen:status ready=new running=busy done=sent failed=bad
    till   timestamptz,               -- qgen:lease length=5m expired=recover
    tries  int NOT NULL DEFAULT 0,    -- qgen:attempts up on=claim max=3
    code   int,                       -- qgen:on done set arg:code
    holder text,                      -- qgen:on claim set worker
    body   text
);
CREATE TABLE parts (
    job_id bigint NOT NULL,
    code   int NOT NULL,
    who    int,
    at     timestamptz,
    note   text
);
