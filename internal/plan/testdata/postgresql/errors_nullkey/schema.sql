-- A unique key that may be null names no row where nobody says that none without it is a job.
-- qgen:queue scans done=delete
CREATE TABLE scans (
    report  integer UNIQUE,
    handler integer NOT NULL -- qgen:status ready=0 running=1
);
