-- What is done and what failed goes each at an age of its own; an index finds them.
-- qgen:queue orders purge=apart
CREATE TABLE orders (
    id    bigserial PRIMARY KEY,
    state text DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    made  timestamptz NOT NULL -- qgen:enqueued
);
CREATE INDEX orders_made ON orders (state, made);
CREATE TABLE parts (
    "order" bigint NOT NULL,
    body    text
);

-- Failed rows stay; an index finds rows by their state alone.
-- qgen:queue chores purge=done
CREATE TABLE chores (
    id     bigserial PRIMARY KEY,
    state  text DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    made   timestamptz NOT NULL, -- qgen:enqueued
    beyond timestamptz -- qgen:expires
);
CREATE INDEX chores_state ON chores (state);

-- What is done stays, and what nobody took in time.
-- qgen:queue errands purge=failed
CREATE TABLE errands (
    id     bigserial PRIMARY KEY,
    state  text DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    made   timestamptz NOT NULL, -- qgen:enqueued
    beyond timestamptz -- qgen:expires
);

-- Rows whose claims are in a table beside, which knows the failed ones.
-- qgen:queue letters purge=apart
CREATE TABLE letters (
    id    bigserial PRIMARY KEY,
    made  timestamptz NOT NULL, -- qgen:enqueued
    ended timestamptz -- qgen:finished
);
