-- The rows of a group are changed, given back or deleted together: an index leads to them.
CREATE TABLE recall (
    task_id  char(36) NOT NULL,
    token    varchar(100) NOT NULL,
    group_id char(36) NOT NULL,
    state    int NOT NULL,
    begun    datetime,
    ended    datetime,
    PRIMARY KEY (task_id, token),
    KEY recall_group (group_id)
);

-- Rows that are named by a list, of which one index has the order and another the list.
CREATE TABLE items (
    id     bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    source varchar(40) NOT NULL,
    KEY items_source (source)
);
