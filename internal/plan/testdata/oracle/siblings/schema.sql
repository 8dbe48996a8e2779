-- What becomes of an order is told by what its runs have come to.
CREATE TABLE orders (id number(18) PRIMARY KEY, state varchar2(10) DEFAULT 'open' NOT NULL, failed number(9) DEFAULT 0 NOT NULL);
CREATE TABLE ended (order_id number(18) NOT NULL);
-- qgen:queue runs
CREATE TABLE runs (
    id       number(18) PRIMARY KEY,
    order_id number(18) NOT NULL,
    state    varchar2(10) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=done failed=failed|lost; on giveup set lost
    taken    number(18) -- qgen:claimed as=epoch timeout=arg expired=fail
);
