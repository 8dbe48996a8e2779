-- Whoever asks says when a claim has run out.

-- Such a claim is taken over.
-- qgen:queue tasks
CREATE TABLE tasks (
    id        bigserial PRIMARY KEY,
    fetched   timestamptz, -- qgen:claimed timeout=arg
    completed timestamptz, -- qgen:status ready=null running=null done=now
    attempts  int DEFAULT 0 NOT NULL -- qgen:attempts up on=claim max=3
);

-- Recover resets it.
-- qgen:queue mails
CREATE TABLE mails (
    id    bigserial PRIMARY KEY,
    state char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=F
    begun bigint, -- qgen:claimed as=epoch
    beat  bigint, -- qgen:heartbeat timeout=arg as=epoch
    tries int DEFAULT 0 NOT NULL -- qgen:attempts up on=claim max=2
);
