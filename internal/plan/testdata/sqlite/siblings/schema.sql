-- What becomes of an order is told by what its runs have come to.
CREATE TABLE orders (id integer PRIMARY KEY, state text NOT NULL DEFAULT 'open', failed integer NOT NULL DEFAULT 0);
CREATE TABLE ended (order_id integer NOT NULL);
-- qgen:queue runs
CREATE TABLE runs (
    id       integer PRIMARY KEY,
    order_id integer NOT NULL,
    state    text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=failed|lost; on giveup set lost
    taken    integer -- qgen:claimed as=epoch timeout=arg expired=fail
);
