-- qgen:queue email
CREATE OR REPLACE TABLE IF NOT EXISTS email_outbox (
    msg_id     UUID NOT NULL DEFAULT uuid() PRIMARY KEY,
    phase      CHAR(1) NOT NULL DEFAULT 'N' CHECK (phase IN ('N', 'A')), -- qgen:status ready=N running=A
    body       JSON NOT NULL, # qgen:payload
    at         DATETIME(6) INVISIBLE DEFAULT current_timestamp(6),
    UNIQUE KEY (at) /*M!100600 IGNORED */
) ENGINE=Aria TRANSACTIONAL=1;
CREATE INDEX IF NOT EXISTS ready ON email_outbox (phase, at) NOT IGNORED;
CREATE OR REPLACE TABLE `Mixed Case` (id INT /*!80023 INVISIBLE */ PRIMARY KEY /*!50700 COMMENT 'not here' */);
CREATE TRIGGER touch BEFORE INSERT ON email_outbox FOR EACH ROW SET NEW.at = now(6);
