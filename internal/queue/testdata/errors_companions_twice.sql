-- One complaint for a value that is wrong, and none that there is no value.
-- qgen:queue
CREATE TABLE jobs (
    id    bigserial PRIMARY KEY,
    state text NOT NULL -- qgen:status ready=new running=busy done=sent
);
CREATE TABLE ended (id bigint PRIMARY KEY, by text NOT NULL, batch uuid NOT NULL, score int NOT NULL);
CREATE TABLE started (job_id bigint NOT NULL, by text NOT NULL);
