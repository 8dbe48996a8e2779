-- What MariaDB says in words of its own; modern_11_8.sql is what a server makes of it.

CREATE SEQUENCE numbers;

-- qgen:queue jobs
CREATE OR REPLACE TABLE jobs (
  id uuid NOT NULL DEFAULT uuid(),
  n bigint NOT NULL DEFAULT nextval(numbers),
  m bigint NOT NULL DEFAULT (NEXT VALUE FOR numbers),
  state varchar(10) NOT NULL DEFAULT 'N' CHECK (state IN ('N','A','C')), -- qgen:status ready=N running=A done=C
  kind char(1) NOT NULL,
  prio int NOT NULL DEFAULT (1 + 2),
  run_at timestamp(6) NOT NULL DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6),
  body json NOT NULL DEFAULT '{}',
  twice int AS (prio * 2) PERSISTENT,
  v int GENERATED ALWAYS AS (prio * 3) VIRTUAL,
  hidden int INVISIBLE DEFAULT 3,
  host inet6,
  old_host inet4 DEFAULT '0.0.0.0',
  big text COMPRESSED,
  memo text,
  note varchar(20) COLLATE utf8mb4_uca1400_ai_ci DEFAULT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY by_kind (kind, prio DESC),
  KEY ready (state, prio DESC, run_at, id),
  KEY unused (run_at) IGNORED,
  UNIQUE KEY whole (memo) USING HASH,
  CONSTRAINT kinds CHECK (kind IN ('a', 'b') OR kind = 'c'),
  CHECK (prio > 0)
) ENGINE=InnoDB PAGE_COMPRESSED=1 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_uca1400_ai_ci COMMENT='the jobs' WITH SYSTEM VERSIONING;

CREATE TABLE periods (
  id int PRIMARY KEY,
  a timestamp(6) GENERATED ALWAYS AS ROW START,
  b timestamp(6) GENERATED ALWAYS AS ROW END,
  c date, d date,
  x int WITHOUT SYSTEM VERSIONING,
  PERIOD FOR SYSTEM_TIME (a, b),
  PERIOD FOR valid (c, d),
  UNIQUE (x, valid WITHOUT OVERLAPS)
) WITH SYSTEM VERSIONING;

CREATE TABLE aria (id int PRIMARY KEY) ENGINE=Aria TRANSACTIONAL=1 PAGE_CHECKSUM=1;
CREATE TABLE parts (id int) PARTITION BY LIST (id) (PARTITION p0 VALUES IN (1), PARTITION p1 DEFAULT);
