-- A URL is fetched once: what is asked for again changes the row that is there.
-- qgen:queue urls enqueue=update
CREATE TABLE urls (
    id       bigint AUTO_INCREMENT PRIMARY KEY,
    url      varchar(200) NOT NULL UNIQUE,
    state    varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    priority int NOT NULL DEFAULT 0,   -- qgen:priority desc; on update set "greatest(priority, {new}.priority)"
    asked    int NOT NULL DEFAULT 1,   -- qgen:on update set +1
    body     json,
    note     text NOT NULL
);

-- The caller gives the key of a part, and a part is there once in its order.
-- qgen:queue parts enqueue=update key="place, lot"
CREATE TABLE parts (
    id    char(36) PRIMARY KEY,
    lot   int NOT NULL,
    place int NOT NULL,
    note  varchar(40),
    state varchar(20) NOT NULL DEFAULT 'new',  -- qgen:status ready=new running=busy done=done
    UNIQUE KEY (lot, place)
);
