-- qgen:queue done=delete
CREATE TABLE jobs (
    id       int NOT NULL PRIMARY KEY,
    until_at datetime NULL       -- qgen:lease length=1s clock=utc
) ENGINE=InnoDB;
-- qgen:queue done=delete
CREATE TABLE fine (
    id       int NOT NULL PRIMARY KEY,
    until_at datetime(3) NULL    -- qgen:lease length=1s clock=utc
) ENGINE=InnoDB;
