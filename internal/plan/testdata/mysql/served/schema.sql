-- Rows that somebody has are found by the time of their lease, and among these, which are few,
-- the one that a token names.
CREATE TABLE requests (
    client     bigint unsigned NOT NULL,
    flow       bigint unsigned NOT NULL,
    leased_till timestamp(6) NULL,    -- qgen:lease length=10m free=null expired=claim; order 1
    leased_by  varchar(128),          -- qgen:token free=null; order 2
    PRIMARY KEY (client, flow),
    KEY requests_lease (leased_till, leased_by)
);
-- Here a job that has ended keeps the time.
CREATE TABLE replies (
    id         bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    leased_till timestamp(6) NULL,    -- qgen:lease length=10m free=null expired=claim; order 1
    leased_by  varchar(128),          -- qgen:token free=null
    sent       datetime(6) NULL,      -- qgen:finished
    KEY replies_lease (leased_till, leased_by)
);
