-- Nothing limits the tries, so that no job fails for good by Fail; an outcome leads there.
-- qgen:queue refused
CREATE TABLE jobs (
    id      bigint PRIMARY KEY,
    st      text NOT NULL, -- qgen:status ready=r running=x done=d failed=f
    changed timestamptz,   -- qgen:on claim,retry,done,fail set now
    n       int NOT NULL DEFAULT 0 -- qgen:attempts up on=retry
);
CREATE TABLE dead (id bigint NOT NULL);
