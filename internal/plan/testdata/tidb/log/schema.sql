CREATE TABLE events (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind       varchar(20) NOT NULL,
    created_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), -- qgen:seq notunique gaps settle=60s
    body       json NOT NULL
);
