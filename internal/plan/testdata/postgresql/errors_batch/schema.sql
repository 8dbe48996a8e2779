CREATE TABLE jobs (
    id    bigint PRIMARY KEY,
    kind  text NOT NULL,
    state char(1) NOT NULL, -- qgen:status ready=N running=A done=D
    mark  bigint            -- qgen:token from=companion
);
CREATE TABLE heap (
    state char(1) NOT NULL, -- qgen:status ready=N running=A done=D
    mark  bigint            -- qgen:token from=companion
);
CREATE TABLE events (
    id   bigserial PRIMARY KEY, -- qgen:seq settle=0s
    body text,
    mark bigint                 -- qgen:token from=companion
);
CREATE TABLE letters (
    id   bigserial PRIMARY KEY,
    mark bigint -- qgen:token from=companion
);
CREATE TABLE runs (id bigserial PRIMARY KEY, began timestamptz NOT NULL);
CREATE TABLE gates (kind text PRIMARY KEY);
