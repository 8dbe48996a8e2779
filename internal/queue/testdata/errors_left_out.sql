-- qgen:queue jobs purge=none redrive=none
CREATE TABLE jobs (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=dead
    code  int                          -- qgen:on redrive set 0
);
CREATE TABLE parts (id bigserial PRIMARY KEY, job_id bigint NOT NULL);
-- qgen:queue several redrive=all
CREATE TABLE several (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done failed=dead
);
-- qgen:queue log strategy=offset redrive=none
CREATE TABLE log (id bigserial PRIMARY KEY);
