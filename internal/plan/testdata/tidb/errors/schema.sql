CREATE TABLE events (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY -- qgen:seq settle=0s
);
