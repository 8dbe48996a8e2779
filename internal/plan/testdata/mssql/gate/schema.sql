-- Four conversions run at once, whoever claims.
-- qgen:queue conversions
-- qgen:group limit=4
CREATE TABLE conversions (
    id        bigint IDENTITY PRIMARY KEY,
    state     varchar(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    until_at  datetime2(6) NULL, -- qgen:lease length=5m
    weight    int DEFAULT 0 NOT NULL -- qgen:priority desc
);

-- As many run as the settings say, or whoever claims.
-- qgen:queue exports
CREATE TABLE exports (
    id        bigint IDENTITY PRIMARY KEY,
    site_id   int NOT NULL,
    state     varchar(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    tries     int DEFAULT 0 NOT NULL, -- qgen:attempts max=3
    taken_at  datetime2(6) NULL -- qgen:claimed timeout=10m
);

CREATE TABLE settings (
    id        int PRIMARY KEY,
    max_jobs  int NULL
);

-- Of two values run those that count.
-- qgen:queue begun
CREATE TABLE begun (
    id        bigint IDENTITY PRIMARY KEY,
    state     varchar(20) DEFAULT 'new' NOT NULL -- qgen:status ready=new claimed=taken running=busy done=over
);

-- An index of the table has those alone, and another those that are ready.
-- qgen:queue listed
CREATE TABLE listed (
    id        bigint IDENTITY PRIMARY KEY,
    kind      int NOT NULL, -- qgen:ignore
    state     varchar(20) DEFAULT 'new' NOT NULL -- qgen:status ready=new claimed=taken running=busy done=over
);
CREATE INDEX listed_runs ON listed (kind) WHERE state IN ('taken', 'busy');
-- qgen:queue waiting
CREATE TABLE waiting (
    id        bigint IDENTITY PRIMARY KEY,
    state     varchar(20) DEFAULT 'new' NOT NULL -- qgen:status ready=new claimed=taken running=busy done=over
);
CREATE INDEX waiting_next ON waiting (id) WHERE state = 'new';
