-- Every type of the manual, under each of its names.
CREATE TABLE numbers (
    a SERIAL PRIMARY KEY, -- unique_rowid() has 64 bits, whatever the name says
    b SERIAL2, c SERIAL4, d SERIAL8, e SMALLSERIAL, f BIGSERIAL,
    g INT, h INTEGER, i INT8, j INT64, k BIGINT, -- default_int_size is 8
    l INT4, m INT2, n SMALLINT,
    o FLOAT, p FLOAT4, q REAL, r FLOAT8, s DOUBLE PRECISION, s2 FLOAT(20),
    t DECIMAL, u DECIMAL(10, 2), v DEC(5), w NUMERIC,
    x BOOL, y BOOLEAN,
    z BIT, za BIT(3), zb VARBIT, zc VARBIT(4), zd BIT VARYING(5),
    ze OID
);
CREATE TABLE texts (
    a STRING, b STRING(20), c TEXT, d VARCHAR, e VARCHAR(30), f CHAR, g CHAR(5), h CHARACTER VARYING(6), i "char",
    j STRING COLLATE de, k STRING(7) COLLATE en NOT NULL, l NAME, m CITEXT,
    n BYTES, o BYTEA, p BLOB,
    q UUID, r JSONB, s JSON, t INET,
    u GEOMETRY(POINT, 4326), v TSVECTOR, w VECTOR(3)
);
CREATE TABLE times (
    a TIMESTAMP, b TIMESTAMPTZ, c TIMESTAMP(3), d TIMESTAMPTZ(0), e TIMESTAMP WITH TIME ZONE,
    f DATE, g TIME, h TIMETZ, i INTERVAL, j INTERVAL SECOND, k TIME(0)
);
CREATE TABLE arrays (
    a STRING[], b INT[], c INTEGER ARRAY, d INT4[], e BYTES[], f UUID[], g STRING(9)[]
);
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE TABLE made (a mood, b public.mood NOT NULL DEFAULT 'sad', c mood[]);
ALTER TABLE made ADD COLUMN d INT NOT NULL DEFAULT 0;
ALTER TABLE made ALTER COLUMN a SET DATA TYPE STRING;
