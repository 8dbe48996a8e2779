-- qgen:queue jobs
CREATE TABLE jobs (
    id    bigint PRIMARY KEY,
    state char(1) NOT NULL,         -- qgen:status ready=N running=A done=D
    mark  bigint NOT NULL DEFAULT 0 -- qgen:token free=0 from=companion
);
-- qgen:queue small
CREATE TABLE small (
    id    bigint PRIMARY KEY,
    state char(1) NOT NULL,      -- qgen:status ready=N running=A done=D
    mark  int NOT NULL DEFAULT 0 -- qgen:token free=7 from=companion
);
-- qgen:queue wide
CREATE TABLE wide (
    id    bigint PRIMARY KEY,
    state char(1) NOT NULL, -- qgen:status ready=N running=A done=D
    mark  uuid              -- qgen:token from=companion
);
-- qgen:queue other
CREATE TABLE other (
    id    bigint PRIMARY KEY,
    state char(1) NOT NULL, -- qgen:status ready=N running=A done=D
    mark  bigint            -- qgen:token from=table
);
-- qgen:queue files done=delete
CREATE TABLE files (id bigserial PRIMARY KEY, path text NOT NULL);
CREATE TABLE files_taken (
    id   bigint PRIMARY KEY,
    path text NOT NULL,
    mark bigint NOT NULL -- qgen:token from=companion
);
CREATE TABLE claims (
    id         bigserial PRIMARY KEY,
    holder     boolean,
    created_at timestamptz
);
CREATE TABLE runs (id bigserial PRIMARY KEY, at timestamptz);
CREATE TABLE named (name text PRIMARY KEY DEFAULT gen_random_uuid()::text, at timestamptz);
CREATE TABLE plain (id bigint PRIMARY KEY, at timestamptz);
CREATE TABLE fixed (id bigint PRIMARY KEY DEFAULT 1, at timestamptz);
CREATE TABLE paired (id bigserial, part int, at timestamptz, PRIMARY KEY (id, part));
CREATE TABLE counted (id serial PRIMARY KEY, at timestamptz);
