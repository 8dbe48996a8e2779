CREATE TYPE color AS ENUM ('red', 'green', 'blue');
CREATE TABLE checks (
    a text CHECK (a IN ('x', 'it''s', NULL)),
    b int CHECK (b = 1 OR b = -2 OR (b IS NULL)),
    c numeric CHECK ((c) IN (1.5, - 2.5, '3'::numeric)),
    d text CHECK (d IN ('a', 'b') AND d = ANY (ARRAY['b', 'c'])),
    e text CHECK (e NOT IN ('a')),
    f text CHECK (f IN (SELECT 'x')),
    g text CHECK ('a' = g COLLATE "C"),
    h text CHECK (h = a),
    i boolean CHECK (i IN (true, false)),
    j text CHECK (NOT (j = 'x')),
    k text, l text,
    m text CHECK (m = ANY ('{a,b}')),
    n text CHECK (n = ANY ('{"a b",c}'::text[])),
    o text CHECK (o <> 'x'),
    p text CHECK (p = ALL (ARRAY['x'])),
    q color CHECK (q IN ('red', 'green')),
    r text CHECK (r IN (E'a\tb', $$c$$, U&'\0064')),
    s bit(3) CHECK (s IN (B'101')),
    t text CHECK (checks.t = 'x'),
    u text CHECK (lower(u) = 'x'),
    v text CHECK (v = 'x' OR v IS NOT NULL),
    w text CHECK (w IN (upper('x'))),
    x text CHECK (x = 'x' || 'y'),
    y text CHECK (y = ANY (k)),
    z bigint CHECK (z IN (9999999999, 1)),
    CHECK (k = 'a' AND l = 'b' OR k = 'c' AND l = 'd'),
    CHECK (k IN ('a', 'z') OR l IN ('b', 'z')),
    CONSTRAINT none CHECK (1 = 1)
);
CREATE TABLE lengths (
    a text CHECK (char_length(a) <= 500),
    "B b" text CHECK (length("B b") < 80),
    c varchar(40) CHECK ((length((c)::text) BETWEEN 1 AND 20)),
    d varchar(10) CHECK (character_length(d) <= 20),
    e text CHECK (e IS NULL OR char_length(e) <= 30) CHECK (char_length(e) < 25),
    f text CHECK (char_length(f) >= 3),
    g text CHECK (char_length(a) <= 5),
    h text, i text,
    CONSTRAINT h_length CHECK (char_length(h) <= 7),
    CHECK (char_length(h) + char_length(i) <= 9)
);
CREATE TABLE lengths_of_two (
    a text, b text, c text, d text, e text, f text, g text,
    CONSTRAINT error_length CHECK ((char_length(a) <= 500) AND (char_length(b) <= 10000)),
    CHECK ((length(c) BETWEEN 1 AND 20 AND (d IS NULL OR char_length(d) <= 30)) AND char_length(a) < 400),
    CHECK (e IS NULL OR char_length(f) <= 5 AND char_length(g) <= 6),
    CHECK (char_length(e) <= 7 AND char_length(f) + char_length(g) <= 9)
);
