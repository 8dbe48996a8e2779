CREATE TABLE times (
    id         timestamp PRIMARY KEY,
    wall_local timestamp NOT NULL,
    wall_null  timestamp,
    zoned      timestamptz,
    sec        bigint NOT NULL,
    ms         bigint,
    us         bigint,
    ns         bigint NOT NULL,
    ns_null    bigint,
    txt        text NOT NULL,
    txt_null   text,
    dig        text NOT NULL,
    dig_ms     char(14) NOT NULL,
    dig_null   varchar(17),
    dig_ns     text NOT NULL,
    state      text
);
