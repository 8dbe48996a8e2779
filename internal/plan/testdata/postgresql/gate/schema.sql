-- Four conversions run at once, whoever claims.
-- qgen:queue conversions
-- qgen:group limit=4
CREATE TABLE conversions (
    id        bigserial PRIMARY KEY,
    state     text DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    until_at  timestamptz NULL, -- qgen:lease length=5m
    weight    int DEFAULT 0 NOT NULL -- qgen:priority desc
);

-- As many run as the settings say, or whoever claims.
-- qgen:queue exports
CREATE TABLE exports (
    id        bigserial PRIMARY KEY,
    site_id   int NOT NULL,
    state     text DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    tries     int DEFAULT 0 NOT NULL, -- qgen:attempts max=3
    taken_at  timestamptz NULL -- qgen:claimed timeout=10m
);

CREATE TABLE settings (
    id        int PRIMARY KEY,
    max_jobs  int NULL
);

-- Whoever claims says with what the names of lines begin. Each row knows how many of its line may run.
-- qgen:queue tasks
-- qgen:order "kind = 'last'"
CREATE TABLE tasks (
    id        bigserial PRIMARY KEY,
    line      text NOT NULL, -- qgen:topic prefix
    kind      text NOT NULL,
    most      int NOT NULL,
    state     text DEFAULT 'new' NOT NULL -- qgen:status ready=new running=busy done=over failed=dead
);
