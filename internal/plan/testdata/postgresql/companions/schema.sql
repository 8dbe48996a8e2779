-- Short messages that go to another table when they are sent, after Gammu's outbox.
-- qgen:queue sms
CREATE TABLE outbox (
    id           bigserial PRIMARY KEY,
    inserted_at  timestamptz DEFAULT now() NOT NULL,  -- qgen:enqueued; order 2
    due_at       timestamptz DEFAULT now() NOT NULL,  -- qgen:due
    lease_till   timestamptz,                         -- qgen:lease length=5m expired=recover
    state        varchar(8) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=error
    token        uuid,                       -- qgen:token
    sender       varchar(40),                     -- qgen:worker
    retries      int DEFAULT 0 NOT NULL,    -- qgen:attempts up on=claim max=3
    priority     int DEFAULT 0 NOT NULL,    -- qgen:priority desc
    number_to    varchar(20) NOT NULL,
    last_error   varchar(200),                    -- qgen:error
    answer       text,                        -- qgen:result
    body         text
);

CREATE TABLE outbox_multipart (
    outbox_id bigint NOT NULL,
    place     int NOT NULL,
    body      text,
    PRIMARY KEY (outbox_id, place)
);

CREATE TABLE sentitems (
    id        bigint NOT NULL PRIMARY KEY,
    sent_at   timestamptz NOT NULL,
    number_to varchar(20) NOT NULL,
    status    varchar(16) NOT NULL,
    answer    text,
    cause     varchar(50)
);

CREATE TABLE fired (
    token     uuid NOT NULL,
    outbox_id bigint NOT NULL,
    sender    varchar(40),
    at        timestamptz NOT NULL
);

CREATE TABLE totals (
    number_to varchar(20) NOT NULL PRIMARY KEY,
    sent      int DEFAULT 0 NOT NULL,
    state     varchar(8) DEFAULT 'open' NOT NULL,
    sent_at   timestamptz
);

CREATE TABLE dead (
    id         bigint NOT NULL PRIMARY KEY,
    state      varchar(8) NOT NULL,
    retries    int NOT NULL,
    number_to  varchar(20) NOT NULL,
    last_error varchar(200),
    body       text
);

CREATE TABLE tries (
    outbox_id bigint NOT NULL,
    cause     varchar(20),
    at        timestamptz,
    tried     boolean NOT NULL,
    tries     int
);

-- Recover is told who is alive, and writes another table as well.
CREATE TABLE sends (
    id    bigserial PRIMARY KEY,
    state int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2
    who   varchar(40) -- qgen:worker alive=arg
);
