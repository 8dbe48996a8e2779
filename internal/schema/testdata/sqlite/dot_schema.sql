CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- qgen:id
    [Kind] TEXT NOT NULL, -- qgen:topic
    phase TEXT CHECK (phase IN ('new', 'busy', 'done')) -- qgen:status ready=new running=busy done=done
, worker TEXT);
CREATE TABLE sqlite_sequence(name,seq);
CREATE INDEX jobs_state ON jobs (phase DESC) WHERE phase = 'new';
CREATE VIRTUAL TABLE notes USING fts5(body, title)
/* notes(body,title) */;
CREATE TABLE IF NOT EXISTS 'notes_data'(id INTEGER PRIMARY KEY, block BLOB);
CREATE TABLE IF NOT EXISTS 'notes_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS 'notes_content'(id INTEGER PRIMARY KEY, c0, c1);
CREATE TABLE IF NOT EXISTS 'notes_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
CREATE TABLE IF NOT EXISTS 'notes_config'(k PRIMARY KEY, v) WITHOUT ROWID;
CREATE VIEW open_jobs AS SELECT id, jobs.kind, phase AS s, phase || 'x' FROM jobs
/* open_jobs(id,Kind,s,"phase || 'x'") */;
CREATE TRIGGER jobs_ai AFTER INSERT ON jobs BEGIN INSERT INTO notes (body) VALUES (new.kind); END;
