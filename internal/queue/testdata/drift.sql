-- Counters in other tables that not every way out of running takes back.
CREATE TABLE hosts (id int PRIMARY KEY, size int NOT NULL, claims int NOT NULL);
-- qgen:queue done=delete failed=delete
CREATE TABLE items (
    id   int PRIMARY KEY,
    host int NOT NULL,
    at   timestamptz -- qgen:claimed timeout=1h expired=recover
);
