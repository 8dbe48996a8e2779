-- What belongs to a letter is added with it and goes with it, when that is purged.
-- qgen:queue letters
CREATE TABLE letters (
    id         bigint IDENTITY PRIMARY KEY,
    state      varchar(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=error
    lease_till datetime2, -- qgen:lease length=5m
    ended      datetime2, -- qgen:finished also_failed
    address    varchar(40) NOT NULL,
    cause      nvarchar(200) -- qgen:error
);

-- A key of two columns, which the caller gives.
-- qgen:queue parcels
CREATE TABLE parcels (
    depot  int NOT NULL,
    code   varchar(40) NOT NULL,
    state  varchar(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent
    PRIMARY KEY (depot, code)
);

-- Claims are rows of a side table.
-- qgen:queue notes
CREATE TABLE notes (
    id      bigint IDENTITY PRIMARY KEY,
    address varchar(40) NOT NULL
);

-- A claim moves the row.
-- qgen:queue files done=delete
CREATE TABLE files (
    id      bigint NOT NULL PRIMARY KEY,
    address varchar(40) NOT NULL
);

CREATE TABLE files_acquired (
    id      bigint PRIMARY KEY,
    address varchar(40) NOT NULL,
    mark    uniqueidentifier NOT NULL -- qgen:token
);

-- A key of bytes; a claim deletes the row.
-- qgen:queue marks strategy=pop
CREATE TABLE marks (
    id      binary(16) NOT NULL PRIMARY KEY,
    address varchar(40) NOT NULL
);

CREATE TABLE pages (
    letter_id bigint NOT NULL,
    place     int NOT NULL,
    PRIMARY KEY (letter_id, place)
);

CREATE TABLE totals (
    address  varchar(40) NOT NULL PRIMARY KEY,
    letters  int DEFAULT 0 NOT NULL,
    last_at  datetime2
);

CREATE TABLE journal (
    what     varchar(40) NOT NULL,
    id       bigint NOT NULL,
    address  varchar(40),
    ended    datetime2
);
