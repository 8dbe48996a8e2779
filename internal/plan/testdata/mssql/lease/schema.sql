-- No status, and what is sent goes away.
CREATE TABLE letters (
    id       bigint IDENTITY NOT NULL PRIMARY KEY,
    kind     varchar(20) NOT NULL,
    priority int NOT NULL,
    body     nvarchar(max) NOT NULL
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
    id            bigint IDENTITY NOT NULL PRIMARY KEY,
    content       nvarchar(max) NOT NULL,
    wedge_reason  varbinary(max)
);
