-- Whoever asks says when a claim has run out.

-- Such a claim is taken over.
-- qgen:queue tasks
CREATE TABLE tasks (
    id        INTEGER PRIMARY KEY,
    kind      TEXT NOT NULL,              -- qgen:topic
    fetched   INTEGER,                    -- qgen:claimed timeout=arg as=epoch_ms
    completed INTEGER,                    -- qgen:status ready=null running=null done=now as=epoch_ms
    attempts  INTEGER NOT NULL DEFAULT 0, -- qgen:attempts up on=claim max=3
    worker    TEXT                        -- qgen:worker
);

-- Recover resets it.
-- qgen:queue mails
CREATE TABLE mails (
    id      INTEGER PRIMARY KEY,
    state   TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
    begun   INTEGER,                   -- qgen:claimed as=epoch_ms
    beat    INTEGER,                   -- qgen:heartbeat timeout=arg as=epoch_ms
    tries   INTEGER NOT NULL DEFAULT 0 -- qgen:attempts up on=claim max=2
);

-- A topic is called as the argument.
-- qgen:queue calls
CREATE TABLE calls (
    id      INTEGER PRIMARY KEY,
    timeout TEXT NOT NULL DEFAULT '',  -- qgen:topic
    state   TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=F
    begun   INTEGER                    -- qgen:claimed timeout=arg expired=claim as=epoch_ms
);

-- An argument of the user's is called so as well.
-- qgen:queue notes
CREATE TABLE notes (
    id      INTEGER PRIMARY KEY,
    state   TEXT NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D
    begun   INTEGER,                   -- qgen:claimed timeout=arg as=epoch_ms
    timeout INTEGER                    -- qgen:on recover set arg:timeout
);
