-- A feed is there once, however often its publisher says that there is something new in it. Who
-- reads it at that moment is turned away, and it is read again.

-- qgen:queue feeds enqueue=update done=delete
CREATE TABLE feeds (
    id      bigint AUTO_INCREMENT PRIMARY KEY,
    url     varchar(40) NOT NULL UNIQUE,       -- qgen:payload
    edition int NOT NULL,                      -- qgen:payload
    note    varchar(40),                       -- qgen:payload
    asked   int DEFAULT 1 NOT NULL,            -- qgen:payload; on update set +1
    weight  int DEFAULT 0 NOT NULL,            -- qgen:payload; on update set "greatest(weight, {new}.weight)"
    state   varchar(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy
    until   timestamp(6) NULL,                 -- qgen:lease length=1s expired=recover
    rev     int DEFAULT 0 NOT NULL             -- qgen:version; on update set +1
);

-- The same under a key that whoever adds a sheet gives: a sheet is found by its name.
-- qgen:queue sheets enqueue=update key=sheets_url done=delete
CREATE TABLE sheets (
    id      char(36) PRIMARY KEY,
    url     varchar(40) NOT NULL,              -- qgen:payload
    edition int NOT NULL,                      -- qgen:payload
    note    varchar(40),                       -- qgen:payload
    asked   int DEFAULT 1 NOT NULL,            -- qgen:payload; on update set +1
    weight  int DEFAULT 0 NOT NULL,            -- qgen:payload; on update set "greatest(weight, {new}.weight)"
    state   varchar(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy
    until   timestamp(6) NULL,                 -- qgen:lease length=1s expired=recover
    rev     int DEFAULT 0 NOT NULL,            -- qgen:version; on update set +1
    UNIQUE KEY sheets_url (url)
);
