-- A row is named by its place, which a new one has not been given yet.
-- qgen:queue heap id=row strategy=hold done=delete
CREATE TABLE heap (
    body text NOT NULL
);

CREATE TABLE jobs (id bigserial PRIMARY KEY, state text NOT NULL DEFAULT 'new', kind int NOT NULL DEFAULT 0);

-- qgen:queue shown
CREATE VIEW shown AS SELECT id, state FROM jobs;

CREATE TABLE journal (
    what text NOT NULL
);
