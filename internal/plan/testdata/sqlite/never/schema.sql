-- One column is due and lease, and a value of it says that a row is never due: such rows are in no figure of Stats.
-- qgen:queue buried done=delete purge=none
CREATE TABLE buried (
    id     INTEGER PRIMARY KEY,
    at     INTEGER NOT NULL, -- qgen:due as=epoch never=2147483647; lease length=1000s as=epoch; order 1
    worker TEXT, -- qgen:worker
    tries  INTEGER DEFAULT 0 NOT NULL -- qgen:attempts up on=retry
);
CREATE INDEX buried_at ON buried (at);

-- The same value marks rows that have failed.
-- qgen:queue failing done=delete purge=none
CREATE TABLE failing (
    id     INTEGER PRIMARY KEY,
    at     INTEGER NOT NULL, -- qgen:due as=epoch never=2147483647; lease length=1000s as=epoch; order 1; status failed=2147483647
    tries  INTEGER DEFAULT 0 NOT NULL -- qgen:attempts up on=retry max=5
);

-- A null says it.
-- qgen:queue resting done=delete purge=none
CREATE TABLE resting (
    id     INTEGER PRIMARY KEY,
    at     INTEGER, -- qgen:due as=epoch null=never; lease length=1000s as=epoch
    ver    INTEGER NOT NULL -- qgen:version
);
