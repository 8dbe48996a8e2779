-- qgen:queue recalls
CREATE TABLE recalls (
    id    bigserial PRIMARY KEY,
    batch bigint NOT NULL,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=failed
    tries int NOT NULL DEFAULT 0 -- qgen:attempts up on=retry max=5
);
-- qgen:queue log
CREATE TABLE log (
    id    bigserial PRIMARY KEY, -- qgen:seq
    batch bigint NOT NULL,
    body  text
);
-- qgen:queue files done=delete failed=delete
CREATE TABLE files (
    id    bigserial PRIMARY KEY,
    batch bigint NOT NULL
);
CREATE TABLE files_running (
    id    bigint PRIMARY KEY,
    batch bigint NOT NULL,
    since timestamptz NOT NULL -- qgen:claimed timeout=5m
);
