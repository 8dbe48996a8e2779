-- A URL is fetched once: what is asked for again changes the row that is there.
-- qgen:queue urls enqueue=update
CREATE TABLE urls (
    id       bigint AUTO_INCREMENT PRIMARY KEY,
    url      varchar(150) NOT NULL,
    state    varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    priority int NOT NULL DEFAULT 0,   -- qgen:priority desc; on update set "greatest(priority, {new}.priority)"
    asked    int NOT NULL DEFAULT 1,   -- qgen:on update set "asked + 1"
    run_at   datetime(3) NOT NULL,     -- qgen:due
    body     json NULL,
    note     text NOT NULL,
    seen     timestamp(6) NOT NULL DEFAULT current_timestamp(6) ON UPDATE current_timestamp(6), -- qgen:claimed timeout=5m
    UNIQUE KEY urls_url (url)
);

-- The caller gives the key of a part, and a part is there once in its order.
-- qgen:queue parts enqueue=update key=parts_place
CREATE TABLE parts (
    id    char(36) PRIMARY KEY,
    lot   int NOT NULL,
    place int NOT NULL,
    size  bigint NOT NULL DEFAULT 0,
    note  varchar(40),
    hits  int NOT NULL DEFAULT 0,              -- qgen:on update set "hits + {new}.size"
    state varchar(20) NOT NULL DEFAULT 'new',  -- qgen:status ready=new running=busy done=done
    UNIQUE KEY parts_place (lot, place)
);

-- The name of the row is its key.
-- qgen:queue new enqueue=update
CREATE TABLE new (
    name  varchar(40) NOT NULL PRIMARY KEY,
    kind  varchar(20) NOT NULL,
    state varchar(20) NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done; on update set new
);
