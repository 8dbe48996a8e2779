-- What MySQL 8.0 and later can say of a table; modern_97.sql is what a server makes of it.

-- qgen:queue jobs
CREATE TABLE jobs (
  id binary(16) NOT NULL DEFAULT (uuid_to_bin(uuid(), 1)),
  state varchar(10) NOT NULL DEFAULT 'N' CHECK (state IN ('N','A','C')), -- qgen:status ready=N running=A done=C
  kind char(1) NOT NULL,
  prio int NOT NULL DEFAULT ((1 + 2)),
  run_at timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), -- qgen:due
  body json NOT NULL DEFAULT (json_object('a', 1)),
  kind_and_prio varchar(30) GENERATED ALWAYS AS (concat(kind, ':', prio)) STORED NOT NULL,
  topic varchar(50) AS (body->>'$.topic') VIRTUAL,
  hidden int INVISIBLE,
  nick varchar(20) COLLATE utf8mb4_bin DEFAULT (_utf8mb4'it''s'),
  place point SRID 4326,
  vec vector(3),
  done tinyint(1) NOT NULL DEFAULT false,
  many tinyint unsigned NOT NULL DEFAULT 1,
  PRIMARY KEY (id),
  UNIQUE KEY by_kind (kind, prio DESC),
  KEY ready (state, prio DESC, run_at, id),
  KEY late ((CASE WHEN state = 'N' THEN run_at END), id),
  KEY lower_nick ((lower(nick)) DESC),
  KEY unused (run_at) INVISIBLE,
  KEY part (nick(5)),
  CONSTRAINT kinds CHECK (kind IN ('a', 'b') OR kind = 'c'),
  CONSTRAINT few CHECK (many < 9) NOT ENFORCED,
  CHECK (prio > 0 AND many > 0)
) COMMENT='the jobs';

CREATE TABLE hidden_key (
  n int,
  UNIQUE KEY (n)
);

CREATE TABLE parts (
  id bigint NOT NULL AUTO_INCREMENT,
  day date NOT NULL,
  PRIMARY KEY (id, day)
)
PARTITION BY RANGE COLUMNS (day) (
  PARTITION p0 VALUES LESS THAN ('2024-01-01'),
  PARTITION pn VALUES LESS THAN MAXVALUE
);

CREATE TABLE shards (id int PRIMARY KEY, x int) PARTITION BY KEY (id) PARTITIONS 4;
CREATE TABLE buckets (id int PRIMARY KEY, x int) PARTITION BY HASH (id DIV 10) PARTITIONS 4;
