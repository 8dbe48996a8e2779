-- No status, and what is sent goes away.
CREATE TABLE letters (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind     varchar(20) NOT NULL,
    priority int NOT NULL,
    body     text NOT NULL
);

-- The status says what is done, and not who is at it.
CREATE TABLE parts (
    region   varchar(10) NOT NULL,
    seq      int NOT NULL,
    state    char(1) NOT NULL,
    PRIMARY KEY (region, seq)
);

-- What went wrong alone tells that a row has failed.
CREATE TABLE events (
    id            bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    content       longtext NOT NULL,
    wedge_reason  varbinary(200)
);
