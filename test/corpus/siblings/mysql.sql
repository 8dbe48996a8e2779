-- An order is closed when no run of it is left.

-- qgen:queue runs
CREATE TABLE runs (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    order_id bigint NOT NULL,
    state    varchar(10) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=lost
    mark     binary(16), -- qgen:token
    till     bigint, -- qgen:lease length=5m expired=fail as=epoch
    KEY (order_id)
);

CREATE TABLE orders (
    id    bigint NOT NULL PRIMARY KEY,
    state varchar(10) NOT NULL DEFAULT 'open'
);

CREATE TABLE events (
    run_id bigint NOT NULL,
    what   varchar(10) NOT NULL,
    mark   binary(16)
);
