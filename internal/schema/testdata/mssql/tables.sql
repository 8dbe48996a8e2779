CREATE PARTITION FUNCTION by_month (datetime2(0)) AS RANGE RIGHT FOR VALUES ('2026-01-01', '2026-02-01')
CREATE PARTITION SCHEME months AS PARTITION by_month ALL TO ([PRIMARY])
CREATE TABLE dbo.temporal (
    id int NOT NULL PRIMARY KEY CLUSTERED WITH (FILLFACTOR = 80) ON [PRIMARY],
    state varchar(10) NULL INDEX ix_state NONCLUSTERED (state, id) WHERE state = 'ready' AND id > 5 WITH (DATA_COMPRESSION = PAGE) ON [PRIMARY],
    other int INDEX ix_other UNIQUE, third int NOT NULL UNIQUE NONCLUSTERED HASH WITH (BUCKET_COUNT = 1024),
    valid_from datetime2 GENERATED ALWAYS AS ROW START HIDDEN CONSTRAINT df_from DEFAULT SYSUTCDATETIME() NOT NULL,
    valid_to datetime2 GENERATED ALWAYS AS ROW END HIDDEN NOT NULL DEFAULT CONVERT(datetime2, '9999-12-31 23:59:59.9999999'),
    by_whom bigint GENERATED ALWAYS AS TRANSACTION_ID START HIDDEN NOT NULL
    PERIOD FOR SYSTEM_TIME (valid_from, valid_to)
) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.temporal_history), LEDGER = ON)
CREATE TABLE dbo.in_memory (
    id bigint IDENTITY PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 131072),
    state char(1) NOT NULL, due datetime2 NOT NULL,
    INDEX ix_due NONCLUSTERED (due ASC, id DESC), INDEX ix_hash HASH (state) WITH (BUCKET_COUNT = 8)
) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA)
CREATE TABLE dbo.on_disk (id int) WITH (MEMORY_OPTIMIZED = OFF, DATA_COMPRESSION = ROW)
CREATE TABLE dbo.by_columns (id int, state int, INDEX cci CLUSTERED COLUMNSTORE ORDER (id), INDEX nci NONCLUSTERED (state))
CREATE TABLE dbo.by_columns_later (id int NOT NULL PRIMARY KEY NONCLUSTERED, state int)
CREATE CLUSTERED COLUMNSTORE INDEX cci ON dbo.by_columns_later WITH (MAXDOP = 1)
CREATE TABLE dbo.both_ways (id int NOT NULL PRIMARY KEY, state int, INDEX ncci COLUMNSTORE (id, state))
CREATE NONCLUSTERED COLUMNSTORE INDEX ncci2 ON dbo.both_ways (state) WHERE state > 3
CREATE TABLE dbo.no_longer (id int NOT NULL)
CREATE CLUSTERED COLUMNSTORE INDEX cci ON dbo.no_longer
CREATE CLUSTERED INDEX cci ON dbo.no_longer (id) WITH (DROP_EXISTING = ON)
CREATE TABLE dbo.page_locks (id int NOT NULL CONSTRAINT pk PRIMARY KEY WITH (ALLOW_ROW_LOCKS = OFF, ALLOW_PAGE_LOCKS = ON), a int)
CREATE INDEX ix_a ON dbo.page_locks (a) WITH (ALLOW_ROW_LOCKS = ON)
CREATE TABLE dbo.row_locks (id int NOT NULL CONSTRAINT pk2 PRIMARY KEY WITH (ALLOW_ROW_LOCKS = OFF), a int, INDEX ix_a (a))
ALTER INDEX pk2 ON dbo.row_locks SET (ALLOW_ROW_LOCKS = ON)
CREATE TABLE dbo.row_locks2 (id int NOT NULL PRIMARY KEY, a int, INDEX ix_a (a) WITH (ALLOW_ROW_LOCKS = OFF), INDEX ix_b (a), INDEX ix_c (a))
ALTER INDEX ALL ON dbo.row_locks2 REBUILD WITH (ALLOW_ROW_LOCKS = ON)
ALTER INDEX ix_a ON dbo.row_locks2 DISABLE
ALTER INDEX ix_b ON dbo.row_locks2 DISABLE; ALTER INDEX ix_b ON dbo.row_locks2 REBUILD PARTITION = ALL
ALTER INDEX ix_c ON dbo.row_locks2 REORGANIZE
ALTER INDEX ix_c ON nowhere REBUILD
CREATE TABLE dbo.partitioned (id int NOT NULL, at datetime2(0) NOT NULL) ON months(at)
CREATE TABLE dbo.partitioned_key (id int NOT NULL, [at] datetime2(0) NOT NULL, CONSTRAINT pk_p PRIMARY KEY CLUSTERED (id, [at]) ON [months]([at]), INDEX x (id) ON months(at)) ON [months]([at])
CREATE TABLE dbo.partitioned_later (id int NOT NULL, at datetime2(0) NOT NULL) ON "default"
CREATE CLUSTERED INDEX cl ON dbo.partitioned_later (at) ON months(AT)
CREATE TABLE dbo.not_partitioned (id int NOT NULL, at datetime2(0) NOT NULL)
CREATE INDEX ix ON dbo.not_partitioned (at) ON months(at)
CREATE TABLE dbo.commas (
    a int NOT NULL, b int NOT NULL
    CONSTRAINT pk_commas PRIMARY KEY (a, b), c int NOT NULL UNIQUE (a, c) CHECK (a > c), d int
    CONSTRAINT fk_commas FOREIGN KEY (d) REFERENCES dbo.temporal (id) ON DELETE NO ACTION NOT FOR REPLICATION,
    e int INDEX ix_e (e DESC, d),
)
CREATE TABLE dbo.referring (
    id int FOREIGN KEY REFERENCES temporal (id), b int CONSTRAINT fk_b REFERENCES dbo.temporal ON UPDATE SET DEFAULT, c int REFERENCES x..y (z) NOT NULL,
    FOREIGN KEY (id, b) REFERENCES other.table1 (a, b) ON DELETE SET NULL ON UPDATE CASCADE
)
CREATE TABLE dbo.wide (id int PRIMARY KEY, a int SPARSE NULL, b varchar(9) SPARSE, specials xml COLUMN_SET FOR ALL_SPARSE_COLUMNS)
CREATE TABLE dbo.secret (
    a nvarchar(11) COLLATE Latin1_General_BIN2 ENCRYPTED WITH (COLUMN_ENCRYPTION_KEY = cek, ENCRYPTION_TYPE = Deterministic, ALGORITHM = 'AEAD_AES_256_CBC_HMAC_SHA_256') NOT NULL,
    b int MASKED WITH (FUNCTION = 'default()') NULL, c uniqueidentifier ROWGUIDCOL NOT NULL DEFAULT NEWSEQUENTIALID()
)
CREATE TABLE dbo.person (name nvarchar(9)) AS NODE
CREATE TABLE dbo.knows (since date, CONSTRAINT ec CONNECTION (person TO person) ON DELETE CASCADE) AS EDGE
CREATE TABLE dbo.old_style (id int NOT NULL CONSTRAINT pk_old PRIMARY KEY NONCLUSTERED WITH FILLFACTOR = 90 ON [PRIMARY], b int) ON [PRIMARY] TEXTIMAGE_ON other FILESTREAM_ON streams
CREATE INDEX many ON dbo.old_style (id, b DESC) WITH FILLFACTOR = 90 ON [PRIMARY]
CREATE TABLE dbo.stored (id int PRIMARY KEY NONCLUSTERED NOT ENFORCED, b varbinary(max) FILESTREAM, c uniqueidentifier UNIQUE ON [PRIMARY] FILESTREAM_ON streams)
CREATE TABLE dbo.places (id int PRIMARY KEY, g geography, x xml, v vector(3), j json)
CREATE SPATIAL INDEX sp ON dbo.places (g) USING GEOGRAPHY_GRID WITH (GRIDS = (MEDIUM))
CREATE PRIMARY XML INDEX px ON dbo.places (x)
CREATE XML INDEX sx ON dbo.places (x) USING XML INDEX px FOR PATH
CREATE VECTOR INDEX vx ON dbo.places (v) WITH (METRIC = 'cosine')
CREATE JSON INDEX jx ON dbo.places (j) FOR ('$.a', '$.b')
CREATE FULLTEXT INDEX ON dbo.places (x) KEY INDEX pk
CREATE STATISTICS st ON dbo.places (id)
CREATE TABLE dbo.made WITH (DISTRIBUTION = ROUND_ROBIN) AS SELECT id, state AS s FROM dbo.temporal
CREATE TABLE dbo.filed AS FILETABLE WITH (FILETABLE_DIRECTORY = 'x')
CREATE TABLE #temp (id int)
CREATE TABLE tempdb..##shared (id int)
DECLARE @rows TABLE (id int NOT NULL PRIMARY KEY)
CREATE UNIQUE CLUSTERED INDEX cx ON dbo.nowhere (id)
