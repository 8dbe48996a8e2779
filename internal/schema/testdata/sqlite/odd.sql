.bail on
.mode box
CREATE TABLE odd (a TEXT CHECK (a IN (SELECT 'x')), b TEXT CHECK (b IN kinds), c "VARCHAR"(7), d NUMERIC, a2 TEXT CHECK (a2 = 'x' COLLATE BINARY));
CREATE VIEW joined AS SELECT o.*, p.a AS "p a", 1 AS one FROM odd AS o JOIN odd p ON o.a = p.a;
CREATE VIEW IF NOT EXISTS joined AS SELECT 1;
CREATE VIEW of_values AS VALUES (1);
CREATE VIEW sub AS SELECT x.a, * FROM (SELECT 1 AS a) AS x;
DROP VIEW of_values;
CREATE TABLE conflict (id INTEGER PRIMARY KEY CONSTRAINT u UNIQUE, n TEXT CONSTRAINT c CHECK (n IN ('1')), CONSTRAINT k CHECK (n <> id));
ALTER TABLE conflict DROP CONSTRAINT k;
ALTER TABLE conflict DROP CONSTRAINT C;
ALTER TABLE conflict ADD CONSTRAINT d CHECK (n IN ('2'));
ALTER TABLE conflict ALTER COLUMN n SET NOT NULL;
CREATE INDEX no_table ON nowhere (id);
CREATE INDEX twice ON conflict (n);
CREATE INDEX IF NOT EXISTS twice ON conflict (id);
ALTER TABLE conflict RENAME n TO "two words";
SELECT 'not DDL', ?1, :a, @b, $c, X'00', 1.5e-3, 0x1F, .5;
