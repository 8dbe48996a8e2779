-- Short messages that go to another table when they are sent, after Gammu's outbox.
-- qgen:queue sms
CREATE TABLE outbox (
    id           bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    inserted_at  datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),  -- qgen:enqueued; order 2
    due_at       datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),  -- qgen:due
    lease_till   datetime(6),                         -- qgen:lease length=5m expired=recover
    state        varchar(8) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=error
    token        char(36),                       -- qgen:token
    sender       varchar(40),                     -- qgen:worker
    retries      int DEFAULT 0 NOT NULL,    -- qgen:attempts up on=claim max=3
    priority     int DEFAULT 0 NOT NULL,    -- qgen:priority desc
    number_to    varchar(20) NOT NULL,
    last_error   varchar(200),                    -- qgen:error
    answer       text,                        -- qgen:result
    body         text
) ENGINE=InnoDB;

CREATE TABLE outbox_multipart (
    outbox_id bigint NOT NULL,
    place     int NOT NULL,
    body      text,
    PRIMARY KEY (outbox_id, place)
) ENGINE=InnoDB;

CREATE TABLE sentitems (
    id        bigint NOT NULL PRIMARY KEY,
    sent_at   datetime(6) NOT NULL,
    number_to varchar(20) NOT NULL,
    status    varchar(16) NOT NULL,
    answer    text,
    cause     varchar(50)
) ENGINE=InnoDB;

CREATE TABLE fired (
    token     char(36) NOT NULL,
    outbox_id bigint NOT NULL,
    sender    varchar(40),
    at        datetime(6) NOT NULL
) ENGINE=InnoDB;

CREATE TABLE totals (
    number_to varchar(20) NOT NULL PRIMARY KEY,
    sent      int DEFAULT 0 NOT NULL,
    state     varchar(8) DEFAULT 'open' NOT NULL,
    sent_at   datetime(6)
) ENGINE=InnoDB;

CREATE TABLE dead (
    id         bigint NOT NULL PRIMARY KEY,
    state      varchar(8) NOT NULL,
    retries    int NOT NULL,
    number_to  varchar(20) NOT NULL,
    last_error varchar(200),
    body       text
) ENGINE=InnoDB;

CREATE TABLE tries (
    outbox_id bigint NOT NULL,
    cause     varchar(20),
    at        datetime(6),
    tried     boolean NOT NULL,
    tries     int
) ENGINE=InnoDB;

-- Recover is told who is alive, and writes another table as well.
CREATE TABLE sends (
    id    bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2
    who   varchar(40) -- qgen:worker alive=arg
);
