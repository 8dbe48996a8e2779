CREATE TABLE types (
    a INTEGER, b TINYINT(1), c "UNSIGNED BIG INT", d VARCHAR(20), e CLOB, f BLOB, g, h REAL, i DOUBLE PRECISION,
    j FLOAT, k NUMERIC(10, 2), l DECIMAL, m BOOLEAN NOT NULL DEFAULT FALSE, n BOOL, o DATE, p DATETIME, q TIMESTAMP, r TIME,
    s JSON, t JSONB, u UUID, v STRING, w ANY, x TIMESTAMP WITH TIME ZONE, y NATIVE CHARACTER(70), z POINT,
    ga INT GENERATED ALWAYS AS (a + 1) VIRTUAL, gb AS (a + 2) STORED, gc GENERATED ALWAYS AS (1)
);
CREATE TABLE alias_1 (id INTEGER PRIMARY KEY);
CREATE TABLE alias_2 (id integer, x, PRIMARY KEY (id DESC));
CREATE TABLE alias_3 (id INTEGER PRIMARY KEY ASC ON CONFLICT REPLACE);
CREATE TABLE no_alias_1 (id INTEGER PRIMARY KEY DESC);
CREATE TABLE no_alias_2 (id INT PRIMARY KEY);
CREATE TABLE no_alias_3 (id INTEGER PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE no_alias_4 (id INTEGER, x INTEGER, PRIMARY KEY (id, x)) STRICT;
CREATE TABLE no_alias_5 (id BIGINT PRIMARY KEY);
CREATE TABLE checks (
    a TEXT CHECK (a IN ('x', 'it''s', NULL)), b INT CHECK (b = 1 OR b = -2 OR b IS NULL), c CHECK ((c) IN (+1, 2.5)),
    d TEXT CHECK (d IN ('a', 'b') AND d IN ('b', 'c')), e TEXT CHECK (e NOT IN ('a')), f TEXT,
    g TEXT CHECK ('a' = g COLLATE NOCASE), h TEXT CHECK (h = a), i CHECK (i IN (true, false)), j CHECK (j IS 'only'),
    k TEXT, l TEXT, CHECK (k = 'a' AND l = 'b' OR k = 'c' AND l = 'd'), CHECK (k IN ('a') OR l IN ('b'))
);
CREATE TABLE copied AS SELECT a, b AS bee, types.c, d || e FROM types;
CREATE VIEW seen (one, two) AS SELECT a, upper(d) FROM types;
CREATE TEMP TABLE brief (id);
CREATE TABLE aux.other (id INTEGER);
CREATE INDEX aux.oi ON other (id COLLATE NOCASE DESC, 'id', id + 1);
