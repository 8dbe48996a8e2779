-- A command that failed is not sent again by anybody: there is no Redrive, and its count of
-- tries is not set back.
-- qgen:queue commands purge=none redrive=none
CREATE TABLE commands (
    id    integer PRIMARY KEY AUTOINCREMENT,
    state text DEFAULT 'N' NOT NULL,  -- qgen:status ready=N running=A done=D failed=E
    tries integer DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    at    integer                     -- qgen:lease as=epoch length=5m
);

-- Rows whose claims are in a table beside, which knows the failed ones.
-- qgen:queue letters done=delete redrive=none
CREATE TABLE letters (
    id   integer PRIMARY KEY AUTOINCREMENT,
    body text NOT NULL
);
