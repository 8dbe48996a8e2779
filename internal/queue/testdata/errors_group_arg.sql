-- qgen:queue jobs
CREATE TABLE jobs (
    id   bigserial PRIMARY KEY,
    repo text NOT NULL, -- qgen:topic
    kind text NOT NULL, -- qgen:group
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
