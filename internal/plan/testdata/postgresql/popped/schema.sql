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

-- Nobody says an order, and the caller says whose rows end: the index of these leads to them.
-- qgen:queue held strategy=pop done=delete
CREATE TABLE held (
    name   varchar(250) NOT NULL PRIMARY KEY,
    worker varchar(36) NOT NULL, -- qgen:topic list
    body   varchar(36)
);
CREATE INDEX held_worker ON held (worker);
