-- A value with a space wants quotes; what follows it is no word of its own.
-- qgen:queue jobs
CREATE TABLE jobs (
    id    bigserial PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=New|In progress running=busy done=All was well
    made  text NOT NULL, -- qgen:enqueued as=text:2006.01.02 15:04:05; order 1
    due   text NOT NULL  -- qgen:due as=text:Jan 2 2006 nul=never clock=utc
);
-- qgen:queue order "id" desc
CREATE TABLE tasks (
    id    bigserial PRIMARY KEY,
    state text NOT NULL -- qgen:status ready=new running=busy
);
