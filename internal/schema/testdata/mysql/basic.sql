-- A comment that stands at nothing.

-- qgen:queue email
# second line
CREATE TABLE email_outbox (
    -- qgen:where "a = 1"
    msg_id     BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, -- the id
    state      CHAR(1) NOT NULL DEFAULT 'N' CHECK (state IN ('N', 'A', 'C', 'E')), -- qgen:status ready=N running=A
    # qgen:topic
    kind       varchar(20) NOT NULL, priority INT DEFAULT (1 + 2), -- qgen:priority desc
    created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), /* qgen:enqueued */
    due        TIMESTAMP NULL DEFAULT NULL COMMENT 'when; qgen:due',
    body       JSON -- qgen:payload
        NOT NULL,
    CONSTRAINT named UNIQUE (kind, priority DESC), -- not a column

    -- a comment between
    CHECK (priority > 0 AND kind <> ''),
    CHECK (kind = 'a' OR kind IN ('b', 'c') OR kind IS NULL),
    INDEX (state, due, msg_id), KEY (state(1))
) ENGINE=InnoDB COMMENT 'qgen:queue outbox'; -- qgen:done
CREATE INDEX ready ON email_outbox (priority DESC, created_at, (lower(kind)));
CREATE UNIQUE INDEX `once` ON email_outbox (kind) USING BTREE COMMENT 'a key';
CREATE TRIGGER touch AFTER UPDATE ON email_outbox FOR EACH ROW BEGIN
    UPDATE other SET priority = CASE WHEN 1 THEN 2 END; -- qgen:loose
    IF NEW.priority > 1 THEN SET @a = 1; ELSEIF 2 THEN SET @b = 2; END IF;
    CASE NEW.kind WHEN 'a' THEN SET @c = 1; ELSE BEGIN END; END CASE;
    one: LOOP LEAVE one; END LOOP one;
    SET @d = 1;
END;
CREATE TABLE `Mixed Case` (`Id` INT, `two` BIGINT UNSIGNED, `a``b` BINARY(16), 2fa REAL, $plain BOOL, PRIMARY KEY (`id`, `TWO`)) ENGINE MyISAM;
ALTER TABLE email_outbox ADD COLUMN worker TEXT; -- qgen:worker
-- qgen:lease
ALTER TABLE email_outbox ADD lease_until TIMESTAMP(6) NULL AFTER state;
