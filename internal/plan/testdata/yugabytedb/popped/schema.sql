-- A claim is the end of its jobs, and their rows stay.
-- qgen:queue strategy=pop
CREATE TABLE urls (
    id        bigserial PRIMARY KEY,
    job       int NOT NULL, -- qgen:topic
    uri       text NOT NULL,
    processed boolean NOT NULL DEFAULT false, -- qgen:status ready=false done=true
    seen      timestamptz -- qgen:finished
);
-- qgen:queue strategy=pop
CREATE TABLE flips (
    id        bigserial PRIMARY KEY,
    status    text NOT NULL,
    until_at  timestamptz, -- qgen:expires
    processed timestamptz -- qgen:status ready=null done=now
);
