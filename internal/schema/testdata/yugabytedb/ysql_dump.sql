--
-- YSQL database dump
--

-- Dumped from database version 15.12-YB-2025.1.0.0-b0

SET yb_binary_restore = true;
SET yb_ignore_pg_class_oids = false;
SET statement_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);

\if :use_tablespaces
    SET default_tablespace = '';
\endif

CREATE TYPE public.job_state AS ENUM (
    'ready',
    'running'
);

SELECT pg_catalog.binary_upgrade_set_next_heap_pg_class_oid('16384'::pg_catalog.oid);

CREATE TABLE public.jobs (
    id bigint NOT NULL,
    state public.job_state DEFAULT 'ready'::public.job_state NOT NULL, -- qgen:status ready=ready running=running
    kind text NOT NULL,
    CONSTRAINT jobs_pkey PRIMARY KEY((id) HASH)
)
SPLIT INTO 3 TABLETS;

CREATE TABLE public.ranged (
    tenant integer NOT NULL,
    id bigint NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT ranged_pkey PRIMARY KEY(tenant ASC, id DESC),
    CONSTRAINT ranged_at_key UNIQUE (at)
)
WITH (colocation_id='20001')
TABLESPACE fast
SPLIT AT VALUES ((1, 100), (2, MINVALUE));

CREATE TABLE public.both (
    a integer NOT NULL,
    b integer NOT NULL,
    c integer NOT NULL,
    d text,
    hash text,
    PRIMARY KEY ((a, b) HASH, c DESC)
)
TABLEGROUP grp
SPLIT INTO 2 TABLETS;

CREATE TABLE public.parted (
    id bigint NOT NULL,
    day date NOT NULL,
    CONSTRAINT parted_pkey PRIMARY KEY((id) HASH, day ASC)
)
PARTITION BY RANGE (day)
SPLIT INTO 1 TABLETS;
CREATE TABLE public.parted_1 PARTITION OF public.parted (CONSTRAINT parted_1_pkey PRIMARY KEY((id) HASH, day ASC)) FOR VALUES FROM ('2025-01-01') TO ('2026-01-01') SPLIT INTO 1 TABLETS;

CREATE TABLE public.later (id bigint NOT NULL, name text);
ALTER TABLE ONLY public.later
    ADD CONSTRAINT later_pkey PRIMARY KEY (id ASC);
ALTER TABLE ONLY public.later
    ADD CONSTRAINT later_name_key UNIQUE (name);

CREATE INDEX NONCONCURRENTLY jobs_kind ON public.jobs USING lsm (kind HASH, id ASC) SPLIT INTO 3 TABLETS;
CREATE INDEX NONCONCURRENTLY jobs_ready ON public.jobs USING lsm (id ASC) INCLUDE (kind) WHERE (state = 'ready'::public.job_state);
CREATE UNIQUE INDEX NONCONCURRENTLY both_hash ON public.both USING lsm ((b, c) HASH, d DESC);
CREATE INDEX ON public.both (lower(d) HASH, (a + b) ASC) SPLIT AT VALUES (('m'));
CREATE INDEX both_split ON public.both (d ASC, a) SPLIT AT VALUES (('m'), ('z'));
CREATE INDEX both_named ON public.both (hash);
CREATE INDEX both_gin ON public.both USING ybgin (d);

COMMENT ON TABLE public.jobs IS 'what is to be done';
