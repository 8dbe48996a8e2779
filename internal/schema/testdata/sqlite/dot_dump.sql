PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- qgen:id
    [Kind] TEXT NOT NULL, -- qgen:topic
    phase TEXT CHECK (phase IN ('new', 'busy', 'done')) -- qgen:status ready=new running=busy done=done
, worker TEXT);
INSERT INTO jobs VALUES(1,'it''s; CREATE TABLE no (x)','new',NULL);
PRAGMA writable_schema=ON;
INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','notes','notes',0,'CREATE VIRTUAL TABLE notes USING fts5(body, title)');
CREATE TABLE IF NOT EXISTS 'notes_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO notes_data VALUES(1,X'010600');
INSERT INTO notes_data VALUES(10,X'000000000101010001010101');
INSERT INTO notes_data VALUES(137438953473,X'0000003307306372656174650102040102697401020201026e6f01020601017301020301057461626c65010205010178010207040b0707060a');
CREATE TABLE IF NOT EXISTS 'notes_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO notes_idx VALUES(1,X'',2);
CREATE TABLE IF NOT EXISTS 'notes_content'(id INTEGER PRIMARY KEY, c0, c1);
INSERT INTO notes_content VALUES(1,'it''s; CREATE TABLE no (x)',NULL);
CREATE TABLE IF NOT EXISTS 'notes_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
INSERT INTO notes_docsize VALUES(1,X'0600');
CREATE TABLE IF NOT EXISTS 'notes_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO notes_config VALUES('version',4);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('jobs',1);
CREATE INDEX jobs_state ON jobs (phase DESC) WHERE phase = 'new';
CREATE VIEW open_jobs AS SELECT id, jobs.kind, phase AS s, phase || 'x' FROM jobs;
CREATE TRIGGER jobs_ai AFTER INSERT ON jobs BEGIN INSERT INTO notes (body) VALUES (new.kind); END;
PRAGMA writable_schema=OFF;
COMMIT;
