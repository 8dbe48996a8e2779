-- The schema that exported.sql and exported_plain.sql are written of.
CREATE TABLE mail (
  id       NUMBER(19) CONSTRAINT mail_pk PRIMARY KEY,
  state    CHAR(1) DEFAULT 'N' CONSTRAINT mail_state_nn NOT NULL CONSTRAINT mail_state CHECK (state IN ('N', 'A', 'C')),
  kind     VARCHAR2(20 CHAR) NOT NULL,
  priority INTEGER DEFAULT 0 NOT NULL,
  due      TIMESTAMP DEFAULT SYSTIMESTAMP,
  seen     DATE,
  body     CLOB CONSTRAINT mail_json CHECK (body IS JSON),
  big      FLOAT,
  CONSTRAINT mail_kind UNIQUE (kind, priority)
);
COMMENT ON COLUMN mail.state IS 'qgen:status ready=N running=A done=C';
CREATE INDEX mail_ready ON mail (CASE state WHEN 'N' THEN due END, priority DESC);
CREATE UNIQUE INDEX mail_seen ON mail (seen);
CREATE OR REPLACE TRIGGER mail_bi BEFORE INSERT ON mail FOR EACH ROW WHEN (new.id IS NULL) BEGIN :new.id := mail_seq.NEXTVAL; END;
/
CREATE TABLE "Mixed" ("Id" NUMBER GENERATED ALWAYS AS IDENTITY, n NUMBER(5) AS ("Id" * 2), "Mail Id" NUMBER(19) NOT NULL REFERENCES mail, CONSTRAINT "Mixed_PK" PRIMARY KEY ("Id")) ORGANIZATION INDEX;
CREATE TABLE log (at DATE NOT NULL, text VARCHAR2(100)) PARTITION BY RANGE (at) INTERVAL (NUMTODSINTERVAL(1, 'DAY')) (PARTITION p0 VALUES LESS THAN (DATE '2020-01-01'));
CREATE VIEW waiting (id, due) AS SELECT id, due FROM mail WHERE state = 'N';
