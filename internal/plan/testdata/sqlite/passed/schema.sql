-- Jobs, and what claims with strategy=pop make of them: which of these lose a job when a worker dies.
-- qgen:queue jobs
CREATE TABLE jobs (
    id       INTEGER PRIMARY KEY,
    host     TEXT NOT NULL,
    state    TEXT NULL DEFAULT NULL, -- qgen:status(jobs) ready=null running=busy done=done failed=failed
    reported INTEGER NOT NULL DEFAULT 0,
    run_at   INTEGER -- qgen:due(jobs) as=epoch
);
CREATE INDEX jobs_host ON jobs (host);

-- What a condition counts no other claim changes meanwhile: there is one writer.
-- qgen:queue counted
CREATE TABLE counted (
    id    INTEGER PRIMARY KEY,
    host  TEXT NOT NULL,
    state TEXT NOT NULL -- qgen:status ready=new running=busy done=done
);

-- each job is done by whoever takes it first, of some kinds or of any
CREATE TABLE calls (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	kind TEXT NOT NULL,
	taker TEXT
);
CREATE TABLE kinds (
	kind TEXT PRIMARY KEY
);
