-- Four conversions run at once, whoever claims.
-- qgen:queue conversions
CREATE TABLE conversions (
    id        NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state     VARCHAR2(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    until_at  TIMESTAMP(6) WITH TIME ZONE NULL, -- qgen:lease length=5m
    weight    NUMBER(9) DEFAULT 0 NOT NULL -- qgen:priority desc
);

-- As many run as the settings say, or whoever claims.
-- qgen:queue exports
CREATE TABLE exports (
    id        NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site_id   NUMBER(9) NOT NULL,
    state     VARCHAR2(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    tries     NUMBER(9) DEFAULT 0 NOT NULL, -- qgen:attempts max=3
    taken_at  TIMESTAMP(6) WITH TIME ZONE NULL -- qgen:claimed timeout=10m
);

CREATE TABLE settings (
    id        NUMBER(9) PRIMARY KEY,
    max_jobs  NUMBER(9) NULL
);
