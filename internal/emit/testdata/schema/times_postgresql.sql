CREATE TABLE times (
    id         timestamp PRIMARY KEY,
    wall_local timestamp NOT NULL,
    wall_null  timestamp,
    zoned      timestamptz,
    sec        bigint NOT NULL,
    ms         bigint,
    us         bigint,
    txt        text NOT NULL,
    txt_null   text,
    dig        text NOT NULL,
    dig_ms     char(14) NOT NULL,
    dig_null   varchar(17),
    state      text
);
