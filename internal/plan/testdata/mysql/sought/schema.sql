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
