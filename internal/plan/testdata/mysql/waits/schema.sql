-- Claims queue behind a gate, so that they may as well wait for rows that others have locked.
CREATE TABLE mails (
    id      bigint AUTO_INCREMENT PRIMARY KEY,
    account int NOT NULL,
    state   varchar(10) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=dead
    till    datetime(6), -- qgen:lease length=5m
    made    datetime(6) NOT NULL -- qgen:enqueued; order 1
);
CREATE TABLE accounts (
    id   int PRIMARY KEY,
    most int NOT NULL
);
INSERT INTO accounts VALUES (1, 4);
