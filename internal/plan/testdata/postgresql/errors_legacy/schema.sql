-- qgen:queue
CREATE TABLE jobs (
    id    bigserial PRIMARY KEY,
    state char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=C
    body  text
);
CREATE TABLE letters (id bigint PRIMARY KEY, state char(1));
