-- Rows are only added; groups of consumers read them behind marks.
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY, -- qgen:seq
    n  INTEGER NOT NULL,
    created_at INTEGER NOT NULL DEFAULT (unixepoch()) -- qgen:enqueued as=epoch
);
