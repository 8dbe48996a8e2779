-- No status, and what is sent goes away.
CREATE TABLE letters (
    id       integer PRIMARY KEY AUTOINCREMENT,
    kind     varchar(20) NOT NULL,
    priority integer NOT NULL,
    body     text NOT NULL
);

-- The status says what is done, and not who is at it.
CREATE TABLE parts (
    region   varchar(10) NOT NULL,
    seq      integer NOT NULL,
    state    char(1) NOT NULL,
    PRIMARY KEY (region, seq)
);

-- What went wrong alone tells that a row has failed.
CREATE TABLE events (
    id            integer PRIMARY KEY AUTOINCREMENT,
    content       text NOT NULL,
    wedge_reason  blob
);
