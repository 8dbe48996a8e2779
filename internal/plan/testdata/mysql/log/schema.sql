CREATE TABLE events (
    id         bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, -- qgen:seq gaps settle=60s
    kind       varchar(20) NOT NULL,
    created_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), -- qgen:enqueued
    body       text NOT NULL
);
