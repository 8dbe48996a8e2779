-- Short messages that go to another table when they are sent, after Gammu's outbox.
-- qgen:queue sms
CREATE TABLE outbox (
    id           INTEGER PRIMARY KEY,
    inserted_at  INTEGER DEFAULT 0 NOT NULL,  -- qgen:enqueued as=epoch_ms; order 2
    due_at       INTEGER DEFAULT 0 NOT NULL,  -- qgen:due as=epoch_ms
    lease_till   INTEGER,                         -- qgen:lease as=epoch_ms length=5m expired=recover
    state        varchar(8) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=error
    token        TEXT,                       -- qgen:token
    sender       varchar(40),                     -- qgen:worker
    retries      INTEGER DEFAULT 0 NOT NULL,    -- qgen:attempts up on=claim max=3
    priority     INTEGER DEFAULT 0 NOT NULL,    -- qgen:priority desc
    number_to    varchar(20) NOT NULL,
    last_error   varchar(200),                    -- qgen:error
    answer       TEXT,                        -- qgen:result
    body         TEXT
);

CREATE TABLE outbox_multipart (
    outbox_id INTEGER NOT NULL,
    place     INTEGER NOT NULL,
    body      TEXT,
    PRIMARY KEY (outbox_id, place)
);

CREATE TABLE sentitems (
    id        INTEGER NOT NULL PRIMARY KEY,
    sent_at   INTEGER NOT NULL,
    number_to varchar(20) NOT NULL,
    status    varchar(16) NOT NULL,
    answer    TEXT,
    cause     varchar(50)
);

CREATE TABLE fired (
    token     TEXT NOT NULL,
    outbox_id INTEGER NOT NULL,
    sender    varchar(40),
    at        INTEGER NOT NULL
);

CREATE TABLE totals (
    number_to varchar(20) NOT NULL PRIMARY KEY,
    sent      INTEGER DEFAULT 0 NOT NULL,
    state     varchar(8) DEFAULT 'open' NOT NULL,
    sent_at   INTEGER
);

CREATE TABLE dead (
    id         INTEGER NOT NULL PRIMARY KEY,
    state      varchar(8) NOT NULL,
    retries    INTEGER NOT NULL,
    number_to  varchar(20) NOT NULL,
    last_error varchar(200),
    body       TEXT
);

CREATE TABLE tries (
    outbox_id bigint NOT NULL,
    cause     varchar(20),
    at        INTEGER,
    tried     boolean NOT NULL,
    tries     int
);
