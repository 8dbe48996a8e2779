-- A comment that stands at nothing.

-- qgen:queue email
-- second line
CREATE TABLE email_outbox (
    -- qgen:where "a = 1"
    msg_id     INTEGER PRIMARY KEY AUTOINCREMENT, -- the id
    state      CHAR(1) NOT NULL DEFAULT 'N' CHECK (state IN ('N', 'A', 'C', 'E')), -- qgen:status ready=N running=A
    -- qgen:topic
    kind       varchar(20) NOT NULL, priority INT DEFAULT (1 + 2), -- qgen:priority desc
    created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, /* qgen:enqueued */
    body       JSON -- qgen:payload
        NOT NULL,
    CONSTRAINT named UNIQUE (kind, priority DESC), -- not a column

    -- a comment between
    CHECK (priority > 0 AND kind <> ''),
    CHECK (kind = 'a' OR kind IN ('b', 'c') OR kind IS NULL)
); -- qgen:done
CREATE INDEX ready ON email_outbox (priority DESC, created_at, lower(kind)) WHERE state = 'N';
CREATE UNIQUE INDEX "once" ON email_outbox (kind);
CREATE TRIGGER touch AFTER UPDATE ON email_outbox BEGIN
    UPDATE email_outbox SET priority = CASE WHEN 1 THEN 2 END; -- qgen:loose
    SELECT 1;
END;
CREATE TABLE "Mixed Case" ("Id" INT, [two] BIGINT UNSIGNED, `a``b` UUID, 'str' REAL, plain, PRIMARY KEY ("id", [TWO])) WITHOUT ROWID;
ALTER TABLE email_outbox ADD COLUMN worker TEXT; -- qgen:worker
-- qgen:lease
ALTER TABLE email_outbox ADD lease_until TIMESTAMP;

-- A key that names a row of another table has its number from there.
CREATE TABLE sendings (message INTEGER PRIMARY KEY REFERENCES "Messages" (id) ON DELETE CASCADE, state TEXT);
CREATE TABLE sortings (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES sortings (id), FOREIGN KEY (id) REFERENCES sendings (message));
CREATE TABLE branches (id INTEGER PRIMARY KEY REFERENCES branches (id), leaf TEXT);
