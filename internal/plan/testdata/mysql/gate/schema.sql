-- Four conversions run at once, whoever claims.
-- qgen:queue conversions
CREATE TABLE conversions (
    id        bigint AUTO_INCREMENT PRIMARY KEY,
    state     varchar(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    until_at  datetime(6) NULL, -- qgen:lease length=5m
    weight    int DEFAULT 0 NOT NULL -- qgen:priority desc
);

-- As many run as the settings say, or whoever claims.
-- qgen:queue exports
CREATE TABLE exports (
    id        bigint AUTO_INCREMENT PRIMARY KEY,
    site_id   int NOT NULL,
    state     varchar(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    tries     int DEFAULT 0 NOT NULL, -- qgen:attempts max=3
    taken_at  datetime(6) NULL -- qgen:claimed timeout=10m
);

CREATE TABLE settings (
    id        int PRIMARY KEY,
    max_jobs  int NULL
);

INSERT INTO settings VALUES (1, NULL);

-- Of two values run those that count.
-- qgen:queue begun
CREATE TABLE begun (
    id        bigint AUTO_INCREMENT PRIMARY KEY,
    state     varchar(20) DEFAULT 'new' NOT NULL -- qgen:status ready=new claimed=taken running=busy done=over
);
