-- Verify takes an index of another name that is like the one of the table, and not like the one that would be
-- advised, had the table none.
CREATE TABLE pushes (
    pk       text PRIMARY KEY,
    created  bigint NOT NULL, -- qgen:enqueued as=epoch_ms
    state    int NOT NULL, -- qgen:status ready=20 done=40
    target   int NOT NULL, -- qgen:topic
    tries    int NOT NULL -- qgen:attempts up on=retry
);
CREATE INDEX pushes_idx3 ON pushes (target, state, created, tries);

-- Its predicate is that of the claim, but for what the server makes of it.
CREATE TABLE mails (
    id       bigint PRIMARY KEY,
    state    text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=ok
    claimed  timestamptz, -- qgen:claimed timeout=5m
    prio     int NOT NULL DEFAULT 0 -- qgen:priority desc
);
CREATE INDEX mails_next ON mails (prio DESC NULLS LAST, id) WHERE (state = 'new'::text);

-- Its predicate has words of its own, by which Verify knows it.
CREATE TABLE calls (
    id       bigint PRIMARY KEY,
    state    text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=ok
    claimed  timestamptz -- qgen:claimed timeout=5m
);
CREATE INDEX calls_next ON calls (id) WHERE state <> 'ok';
