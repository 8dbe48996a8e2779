-- Mails of the server's own users are an archive and stay; those of others go after some time,
-- whatever has become of them.
-- qgen:queue mails
CREATE TABLE mails (
    id       number(19) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    inserted timestamp(6) NOT NULL, -- qgen:enqueued
    host     varchar2(100) NOT NULL, -- qgen:payload
    sent     number(9) DEFAULT 0 NOT NULL -- qgen:status ready=0 running=2 done=1
);

-- Nothing of these goes by the package.
-- qgen:queue letters purge=none
CREATE TABLE letters (
    id       number(19) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    body     varchar2(100) NOT NULL, -- qgen:payload
    sent     number(9) DEFAULT 0 NOT NULL -- qgen:status ready=0 running=2 done=1
);

-- What belongs to an order goes with it.
-- qgen:queue orders; where "kind = 'mail'"
CREATE TABLE orders (
    id       number(19) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind     varchar2(100) NOT NULL, -- qgen:payload
    state    number(9) DEFAULT 0 NOT NULL -- qgen:status ready=0 running=2 done=1 failed=3
);
CREATE TABLE parts (
    order_id number(19) NOT NULL,
    body     varchar2(100)
);
