-- Watermill's messages of one topic: the number is given before the transaction commits, so rows are read when they are older
-- than any transaction that adds them.
CREATE TABLE watermill_x (
    `offset` BIGINT AUTO_INCREMENT,                       -- qgen:seq gaps settle=60s
    `uuid` BINARY(16) NOT NULL,                           -- qgen:payload
    `created_at` TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, -- qgen:enqueued
    `payload` JSON DEFAULT NULL,                          -- qgen:payload
    `metadata` JSON DEFAULT NULL,                         -- qgen:payload
    PRIMARY KEY (`offset`)
);
