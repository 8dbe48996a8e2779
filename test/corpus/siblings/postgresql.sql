-- An order is closed when no run of it is left.

-- qgen:queue runs
CREATE TABLE runs (
    id       bigserial PRIMARY KEY,
    order_id bigint NOT NULL,
    state    text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=lost
    mark     uuid, -- qgen:token
    till     timestamptz -- qgen:lease length=5m expired=fail
);

CREATE TABLE orders (
    id    bigint PRIMARY KEY,
    state text NOT NULL DEFAULT 'open'
);

CREATE TABLE events (
    run_id bigint NOT NULL,
    what   text NOT NULL,
    mark   uuid
);
