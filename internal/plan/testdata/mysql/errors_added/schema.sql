-- The server gives a key that it does not tell.
-- qgen:queue told
CREATE TABLE told (
    id    char(36) DEFAULT (uuid()) NOT NULL PRIMARY KEY,
    state varchar(10) NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=over
);

-- Of a part of the key it counts, and tells nothing of the whole.
-- qgen:queue counted
CREATE TABLE counted (
    tenant int NOT NULL,
    id     bigint NOT NULL AUTO_INCREMENT,
    state  varchar(10) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=over
    PRIMARY KEY (tenant, id),
    KEY (id)
) ENGINE=InnoDB;

-- qgen:queue heap id=row strategy=hold done=delete
CREATE TABLE heap (
    body varchar(10) NOT NULL
);

-- qgen:queue partial
CREATE TABLE partial (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind  int NOT NULL, -- qgen:ignore
    state varchar(10) NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=over
);

-- Only claims that have run out are found; nothing is left to be purged.
-- qgen:queue fleeting done=delete
CREATE TABLE fleeting (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state varchar(10) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy
    until datetime(6)
);

-- A side table holds the claims, and Purge deletes what it calls failed.
-- qgen:queue plain
CREATE TABLE plain (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state varchar(10) NOT NULL DEFAULT 'new' -- qgen:status ready=new done=over
);

CREATE TABLE journal (
    what varchar(40) NOT NULL
);
