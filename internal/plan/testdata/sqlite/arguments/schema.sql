-- Jobs of which other tables keep who ran them and what they were answered.
-- qgen:queue
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    state      INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2 failed=3
    lease_till INTEGER, -- qgen:lease as=epoch_ms length=5m expired=recover
    tries      INTEGER DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    code       INTEGER, -- qgen:on done,fail set arg:code
    body       TEXT
);

CREATE TABLE runs (
    job_id INTEGER NOT NULL,
    host   varchar(40) NOT NULL,
    node   varchar(20),
    why    varchar(20)
);

CREATE TABLE answers (
    id          INTEGER NOT NULL PRIMARY KEY,
    code        varchar(20) NOT NULL,
    body        BLOB,
    weight      REAL,
    answered_at INTEGER
);

-- The row that stands for a claim takes what the caller says.
CREATE TABLE steps (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    state    INTEGER DEFAULT 0 NOT NULL, -- qgen:status ready=0 running=1 done=2
    claim_id INTEGER DEFAULT 0 NOT NULL  -- qgen:token free=0 from=companion
);

CREATE TABLE claims (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    host varchar(40) NOT NULL,
    node varchar(20) NOT NULL
);

-- An outcome of its own leaves something else in other tables than Complete.
CREATE TABLE letters (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state INTEGER DEFAULT 0 NOT NULL -- qgen:status ready=0 running=1 done=2
);

CREATE TABLE receipts (
    letter_id INTEGER NOT NULL,
    answer    TEXT
);

CREATE TABLE returns (
    letter_id INTEGER NOT NULL,
    reason    TEXT NOT NULL
);

-- What the caller says is a part of what other tables get.
CREATE TABLE calls (
    id    INTEGER NOT NULL PRIMARY KEY,
    state TEXT NOT NULL, -- qgen:status ready=new running=busy done=done failed=failed
    code  INTEGER           -- qgen:on done set arg:code
);

CREATE TABLE history (
    call_id INTEGER NOT NULL PRIMARY KEY,
    tried   INTEGER NOT NULL,
    log     TEXT NOT NULL,
    code    INTEGER,
    keep_to INTEGER
);
