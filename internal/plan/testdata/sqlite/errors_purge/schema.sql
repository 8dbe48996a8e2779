-- Where rows of one state alone stay, or none, they are not told apart.
-- qgen:queue finished purge=apart
CREATE TABLE finished (
    id    integer PRIMARY KEY,
    state text NOT NULL -- qgen:status ready=N running=A done=D
);
-- qgen:queue lost done=delete purge=done
CREATE TABLE lost (
    id    integer PRIMARY KEY,
    state text NOT NULL -- qgen:status ready=N running=A failed=E
);
-- qgen:queue gone done=delete purge=failed
CREATE TABLE gone (
    id    integer PRIMARY KEY,
    state text NOT NULL -- qgen:status ready=N running=A
);
-- qgen:queue rounds cycle=15m purge=failed
CREATE TABLE rounds (
    id    integer PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=N running=A failed=E
    due   integer NOT NULL -- qgen:due as=epoch
);
-- qgen:queue popped strategy=pop purge=done
CREATE TABLE popped (
    id    integer PRIMARY KEY,
    state text NOT NULL -- qgen:status ready=N done=D failed=E
);
