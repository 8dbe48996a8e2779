-- Claims queue behind a gate, so that they may as well wait for rows that others have locked.
CREATE TABLE mails (
    id      bigserial PRIMARY KEY,
    account int NOT NULL,
    state   text DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=dead
    till    timestamptz, -- qgen:lease length=5m
    made    timestamptz NOT NULL -- qgen:enqueued; order 1
);
CREATE TABLE accounts (
    id   int PRIMARY KEY,
    most int NOT NULL
);
