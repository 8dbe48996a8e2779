-- What becomes of an order is told by what its runs have come to.
CREATE TABLE orders (id bigint PRIMARY KEY, state text NOT NULL DEFAULT 'open', failed int NOT NULL DEFAULT 0);
CREATE TABLE ended (order_id bigint NOT NULL);
-- qgen:queue runs
CREATE TABLE runs (
    id       bigint PRIMARY KEY,
    order_id bigint NOT NULL,
    state    text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=failed|lost; on giveup set lost
    taken    timestamptz -- qgen:claimed timeout=arg expired=fail
);
