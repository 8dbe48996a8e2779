-- Four conversions run at once, whoever claims.
-- qgen:queue conversions
-- qgen:group limit=4
CREATE TABLE conversions (
    id        INTEGER PRIMARY KEY,
    state     TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    until_at  INTEGER NULL, -- qgen:lease length=5m as=epoch
    weight    INTEGER DEFAULT 0 NOT NULL -- qgen:priority desc
);

-- As many run as the settings say, or whoever claims.
-- qgen:queue exports
CREATE TABLE exports (
    id        INTEGER PRIMARY KEY,
    site_id   INTEGER NOT NULL,
    state     TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    tries     INTEGER DEFAULT 0 NOT NULL, -- qgen:attempts max=3
    taken_at  INTEGER NULL -- qgen:claimed timeout=10m as=epoch
);

CREATE TABLE settings (
    id        INTEGER PRIMARY KEY,
    max_jobs  INTEGER NULL
);

-- As many run as whoever claims says.
-- qgen:queue renders
-- qgen:group limit=arg
CREATE TABLE renders (
    id        INTEGER PRIMARY KEY,
    state     TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    taken_at  INTEGER NULL -- qgen:claimed timeout=10m as=epoch
);

-- As many of a site run as its row says.
-- qgen:queue mails
CREATE TABLE mails (
    id        INTEGER PRIMARY KEY,
    site_id   INTEGER NULL,
    state     TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    taken_at  INTEGER NULL -- qgen:claimed timeout=10m as=epoch
);

-- As many of a site run as whoever claims says.
-- qgen:queue shares
CREATE TABLE shares (
    id        INTEGER PRIMARY KEY,
    site_id   INTEGER NOT NULL, -- qgen:group limit=arg
    state     TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    taken_at  INTEGER NULL -- qgen:claimed timeout=10m as=epoch
);

-- A claim is for one site.
-- qgen:queue pushes
CREATE TABLE pushes (
    id        INTEGER PRIMARY KEY,
    site_id   INTEGER NOT NULL, -- qgen:topic; group limit=arg
    state     TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    taken_at  INTEGER NULL -- qgen:claimed timeout=10m as=epoch
);

-- The same, and the settings say how many run.
-- qgen:queue fetches
CREATE TABLE fetches (
    id        INTEGER PRIMARY KEY,
    site_id   INTEGER NOT NULL, -- qgen:topic
    state     TEXT DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    taken_at  INTEGER NULL -- qgen:claimed timeout=10m as=epoch
);
