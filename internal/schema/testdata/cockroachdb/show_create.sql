CREATE TYPE public.job_state AS ENUM ('ready', 'running', 'done');
CREATE TYPE IF NOT EXISTS region AS ENUM ('eu', 'us');
CREATE TABLE public.jobs (
	id INT8 NOT NULL DEFAULT unique_rowid(),
	state public.job_state NOT NULL DEFAULT 'ready':::public.job_state, -- qgen:status ready=ready running=running done=done
	kind STRING(20) NULL DEFAULT 'mail':::STRING,
	prio INT8 NOT NULL DEFAULT 0:::INT8,
	rate DECIMAL(10,2) NULL DEFAULT 1.5:::DECIMAL ON UPDATE 2:::DECIMAL,
	seen TIMESTAMPTZ NULL DEFAULT now():::TIMESTAMPTZ ON UPDATE now():::TIMESTAMPTZ,
	tags STRING[] NOT NULL DEFAULT ARRAY['a':::STRING, 'b':::STRING]:::STRING[],
	body BYTES NOT NULL DEFAULT '\x00':::BYTES,
	doc JSONB NULL,
	secret STRING NOT VISIBLE NULL,
	parent INT8 NULL,
	crdb_internal_id_shard_16 INT8 NOT VISIBLE NOT NULL AS (mod(fnv32(md5(crdb_internal.datums_to_bytes(id))), 16:::INT8)) VIRTUAL,
	lower_kind STRING NULL AS (lower(kind)) STORED,
	full_kind STRING NOT NULL GENERATED ALWAYS AS (kind) STORED,
	CONSTRAINT jobs_pkey PRIMARY KEY (id ASC) USING HASH WITH (bucket_count=16),
	INDEX jobs_state_idx (state ASC, id ASC) STORING (kind, body) WHERE state = 'ready':::public.job_state,
	INDEX (prio DESC, lower(kind) ASC),
	UNIQUE INDEX jobs_kind_key (kind ASC, prio DESC) WITH (fillfactor=80),
	UNIQUE INDEX (parent ASC) WHERE (state = 'ready':::public.job_state) NOT VISIBLE,
	INVERTED INDEX jobs_doc_idx (doc),
	VECTOR INDEX (doc),
	INDEX jobs_seen_idx (seen ASC) USING HASH WITH (bucket_count=8),
	CONSTRAINT kind_once UNIQUE (kind ASC, id DESC) STORING (body),
	CONSTRAINT kind_anywhere UNIQUE WITHOUT INDEX (kind),
	CONSTRAINT jobs_parent_fkey FOREIGN KEY (parent) REFERENCES public.jobs (id) ON DELETE CASCADE ON UPDATE SET NULL,
	CONSTRAINT prio_known CHECK (prio IN (0:::INT8, 1:::INT8, 2:::INT8)),
	FAMILY "primary" (id, state, kind, prio), -- what is read together
	FAMILY fam_1 (body)
) PARTITION BY LIST (kind) (
	PARTITION p VALUES IN (('mail'))
) WITH (ttl = 'on', ttl_expire_after = '1 day':::INTERVAL, schema_locked = true) LOCALITY REGIONAL BY ROW AS region;
COMMENT ON TABLE public.jobs IS 'what is to be done';
ALTER TABLE public.jobs ADD CONSTRAINT again FOREIGN KEY (parent) REFERENCES public.jobs (id);
-- Validate foreign key constraints. These can fail if there was unvalidated data during the SHOW CREATE ALL TABLES
ALTER TABLE public.jobs VALIDATE CONSTRAINT again;
ALTER TABLE public.jobs CONFIGURE ZONE USING gc.ttlseconds = 600;
ALTER TABLE public.jobs SPLIT AT VALUES (1), (2);
ALTER TABLE public.jobs SET LOCALITY GLOBAL;
ALTER PARTITION p OF INDEX public.jobs@jobs_pkey CONFIGURE ZONE USING num_replicas = 5;
CREATE TABLE public.old (
	id INT8 NOT NULL,
	b BYTES NULL CREATE IF NOT EXISTS FAMILY f1,
	c STRING FAMILY f1 NOT NULL,
	d STRING CREATE FAMILY,
	e INT4 UNIQUE WITHOUT INDEX DEFAULT 1,
	f INT2 PRIMARY KEY USING HASH WITH BUCKET_COUNT = 8,
	"family" STRING(3),
	CONSTRAINT "primary" UNIQUE (id DESC),
	INDEX(c)
);
ALTER TABLE old ADD COLUMN IF NOT EXISTS g STRING NOT VISIBLE DEFAULT 'x':::STRING FAMILY f1;
ALTER TABLE old ADD CONSTRAINT c_once UNIQUE (c ASC, d DESC) STORING (b);
CREATE INDEX ON old (d ASC) STORING (c) WHERE d > 'a':::STRING;
CREATE INVERTED INDEX IF NOT EXISTS old_inverted ON old (d);
CREATE UNIQUE INDEX old_hash ON old (d, c DESC) USING HASH WITH (bucket_count = 8) NOT VISIBLE;
CREATE INDEX old_gone ON old (c, d) VISIBILITY 0.5;
DROP INDEX IF EXISTS old@old_gone CASCADE;
CREATE TABLE copied AS SELECT id, c FROM old;
CREATE VIEW public.seen (id, state) AS SELECT id, state FROM public.jobs WHERE kind = 'mail':::STRING;
CREATE TABLE short (a INT, INDEX(a), FAMILY(a), b INT ON UPDATE CASE WHEN true THEN 1 ELSE 2 END DEFAULT (1), UNIQUE INDEX b (b) VISIBILITY 0.0, INDEX c (b) VISIBILITY 0);
CREATE TABLE unread (a INT, INDEX (a, FAMILY);
CREATE TABLE unread2 (a INT, INDEX, FAMILY, PRIMARY KEY, CREATE, ON UPDATE, AS (
