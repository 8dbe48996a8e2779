-- A URL waits once: what runs or has ended keeps to itself.
-- qgen:queue urls enqueue=update
CREATE TABLE urls (
    id      bigint AUTO_INCREMENT PRIMARY KEY,
    url     varchar(200) NOT NULL,
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    waiting varchar(200) GENERATED ALWAYS AS (if(state = 'new', url, null)) VIRTUAL,
    body    json,
    UNIQUE KEY urls_waiting (waiting)
);

-- The database makes the key unless the caller gives it, and tells none.
-- qgen:queue marks enqueue=update
CREATE TABLE marks (
    id    varchar(36) NOT NULL DEFAULT (uuid()) PRIMARY KEY,
    name  varchar(40) NOT NULL UNIQUE,
    hits  int NOT NULL DEFAULT 1,           -- qgen:on update set +1
    note  varchar(40),
    state varchar(20) NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
