-- InnoDB indexes foreign keys, and drops such an index once another begins with its columns. Some index that begins so
-- is always there, so it leads to rows; no statement names it, and how it goes on is not known.
CREATE TABLE owners (id bigint NOT NULL PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE tasks (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    owner_id bigint NOT NULL, -- qgen:topic
    kind     int NOT NULL,
    body     varchar(200),    -- qgen:payload
    CONSTRAINT tasks_owner FOREIGN KEY (owner_id) REFERENCES owners (id)
) ENGINE=InnoDB;
