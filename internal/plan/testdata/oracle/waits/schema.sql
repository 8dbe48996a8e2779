-- Claims queue behind a gate, so that they may as well wait for rows that others have locked.
CREATE TABLE mails (
    id      number(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account number(9) NOT NULL,
    state   varchar2(10) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=dead
    till    timestamp(6) with time zone, -- qgen:lease length=5m
    made    timestamp(6) with time zone NOT NULL -- qgen:enqueued; order 1
);
CREATE TABLE accounts (
    id   number(9) PRIMARY KEY,
    most number(9) NOT NULL
);
