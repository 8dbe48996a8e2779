CREATE TYPE dbo.Code FROM varchar(12) NOT NULL;
CREATE TYPE Amount FROM decimal(19, 4);
CREATE TYPE dbo.Point EXTERNAL NAME Geo.[Geo.Point];
CREATE TYPE odd.int FROM nvarchar(7);
CREATE TYPE gone FROM int; DROP TYPE IF EXISTS dbo.gone, dbo.nothing;
GO
CREATE TABLE numbers (
    a bit NOT NULL, b tinyint, c smallint, d int, e bigint, f integer, g decimal, h decimal(9), i numeric(38, 10), j dec(5, 2),
    k money, l smallmoney, m float, n float(24), o float(25), p real, q double precision, r [sys].[int], s sys.bigint
)
CREATE TABLE texts (
    a char, b char(5), c varchar, d varchar(20), e varchar(max), f text, g nchar, h nchar(5), i nvarchar, j nvarchar(4000), k nvarchar(MAX), l ntext,
    m sysname, n sysname NULL, o xml, p xml (DOCUMENT dbo.Things), q character varying(9), r char varying (8), s national character varying(7),
    t national char(6), u national text, v character(5), w varchar(9) COLLATE Latin1_General_BIN2 NOT NULL, x json, y [varchar] (3)
)
CREATE TABLE bytes (a binary, b binary(16), c varbinary, d varbinary(8000), e varbinary(max) FILESTREAM, f image, g binary varying(4), h rowversion)
CREATE TABLE stamped (a int, timestamp)
CREATE TABLE stamped2 (timestamp NOT NULL, a int)
CREATE TABLE stamped3 (timestamp int)
CREATE TABLE times (
    a date, b time, c time(0), d datetime, e datetime2, f datetime2(0), g datetime2(3), h smalldatetime, i datetimeoffset, j datetimeoffset(2) NOT NULL
)
CREATE TABLE others (
    a uniqueidentifier DEFAULT NEWID(), b sql_variant, c hierarchyid, d geography, e geometry, f vector(1536), g nowhere.type(5), h dbo.Point, i gone
)
CREATE TABLE aliased (
    a Code, b dbo.Code NULL, c [dbo].[code] NOT NULL, d AMOUNT, e dbo.amount NOT NULL, f odd.int, g int
)
CREATE TABLE computed (
    a int NOT NULL, b AS a * 2, c AS (a + 1) PERSISTED NOT NULL, d AS CAST(a AS varchar(10)), e AS (TRY_CONVERT(datetime2(0), a)),
    f AS CASE WHEN a > 1 THEN 'x' ELSE CASE a WHEN 1 THEN 'y' END END PERSISTED, g AS ((CONVERT(bit, (a)))), h AS dbo.f(a), i AS CONVERT(int, a) + 1,
    j AS (JSON_VALUE(CAST(a AS nvarchar(9)), '$.x')), k AS ISNULL(a, 1), l AS a COLLATE Latin1_General_BIN PERSISTED
)
CREATE TABLE defaults (
    a int DEFAULT 0, b int DEFAULT -1 NOT NULL, c int CONSTRAINT df_c DEFAULT (NEXT VALUE FOR dbo.numbers), d int DEFAULT NEXT VALUE FOR numbers NOT NULL,
    e nvarchar(9) DEFAULT N'it''s', f datetime2 DEFAULT CURRENT_TIMESTAMP NOT NULL, g datetime DEFAULT dbo.clock() WITH VALUES, h money DEFAULT $0,
    i varbinary(4) DEFAULT 0x00, j int DEFAULT 1 + 2 * 3, k int DEFAULT NULL, l int DEFAULT ((NULL)), m nvarchar(9) DEFAULT 'a' + 'b' COLLATE Latin1_General_BIN,
    n datetimeoffset DEFAULT SYSUTCDATETIME() AT TIME ZONE 'UTC', o geometry DEFAULT geometry::Point(1, 2, 0), p int DEFAULT DATEDIFF(day, 0, GETDATE()) / 7,
    q nvarchar(128) DEFAULT USER, r int DEFAULT ~1 IDENTITY
)
CREATE TABLE checked (
    a char(1) CHECK (a IN ('N','A','C')), b varchar(9) CHECK ([b]='x' OR [b]='y' OR [b] IS NULL), c tinyint CHECK ([c]=(1) OR [c]=(-2)), d bit CHECK (d = 1),
    e nvarchar(9) CONSTRAINT ck_e CHECK NOT FOR REPLICATION (e IN (N'ü', N'it''s')), f nvarchar(max) CHECK (ISJSON(f) > 0), g nvarchar(max) CHECK (ISJSON(g) = 0),
    h nvarchar(max) CHECK (ISJSON([h]) = 1 OR h IS NULL), i nvarchar(max) CHECK (ISJSON(i, OBJECT) = 1), j varchar(9) COLLATE Latin1_General_BIN CHECK ((j) COLLATE Latin1_General_CI_AS IN ('x')),
    k nvarchar(max) CHECK (([k] IS NULL OR (isjson([k])=(1)))), l nvarchar(max) CHECK (l = '' OR ISJSON(l) = 1), m nvarchar(max) CHECK (ISJSON(m) = 1 AND m <> ''),
    CONSTRAINT ck_all CHECK (a <> b), CHECK ([c] = 1 AND [d] = 1)
)
