-- What belongs to a letter is added with it and goes with it, when that is purged.
-- qgen:queue letters
CREATE TABLE letters (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state      varchar(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=error
    lease_till timestamptz, -- qgen:lease length=5m
    ended      timestamptz, -- qgen:finished also_failed
    address    varchar(40) NOT NULL,
    cause      text -- qgen:error
);

-- A key of two columns, which the caller gives.
-- qgen:queue parcels
CREATE TABLE parcels (
    depot  integer NOT NULL,
    code   varchar(40) NOT NULL,
    state  varchar(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent
    PRIMARY KEY (depot, code)
);

-- Claims are rows of a side table.
-- qgen:queue notes
CREATE TABLE notes (
    id      bigserial PRIMARY KEY,
    address varchar(40) NOT NULL
);

-- A claim moves the row.
-- qgen:queue files done=delete
CREATE TABLE files (
    id      bigserial PRIMARY KEY,
    address varchar(40) NOT NULL
);

CREATE TABLE files_acquired (
    id      bigint PRIMARY KEY,
    address varchar(40) NOT NULL,
    mark    uuid NOT NULL -- qgen:token
);

-- Rows are only added.
-- qgen:queue events
CREATE TABLE events (
    id      bigserial PRIMARY KEY, -- qgen:seq settle=0s
    address varchar(40) NOT NULL
);

-- A key of bytes; a claim deletes the row.
-- qgen:queue marks strategy=pop
CREATE TABLE marks (
    id      bytea NOT NULL PRIMARY KEY,
    address varchar(40) NOT NULL
);

CREATE TABLE pages (
    letter_id bigint NOT NULL,
    place     integer NOT NULL,
    PRIMARY KEY (letter_id, place)
);

CREATE TABLE totals (
    address  varchar(40) NOT NULL PRIMARY KEY,
    letters  integer DEFAULT 0 NOT NULL,
    last_at  timestamptz
);

CREATE TABLE journal (
    what     varchar(40) NOT NULL,
    id       bigint NOT NULL,
    address  varchar(40),
    ended    timestamptz
);
