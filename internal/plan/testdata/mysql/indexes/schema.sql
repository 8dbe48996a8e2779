-- Everything that a claim asks for stands in the key.
CREATE TABLE timers (
    shard int         NOT NULL, -- qgen:topic
    due   datetime(6) NOT NULL, -- qgen:due clock=utc; order 1
    id    bigint      NOT NULL,
    data  text,
    PRIMARY KEY (shard, due, id)
);
