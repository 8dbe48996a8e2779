-- Rows that leave the table when their jobs end: each of two masters takes its own. The other
-- program, which locks nothing, is the reason for strategy=partition.
-- qgen:queue commands strategy=partition done=delete
CREATE TABLE commands (
    id       int NOT NULL AUTO_INCREMENT PRIMARY KEY, -- qgen:shard mod
    what     varchar(100) NOT NULL,
    priority int NOT NULL DEFAULT 2, -- qgen:priority asc
    KEY priority_id (priority, id)
);
CREATE TABLE error_commands (
    id      int NOT NULL PRIMARY KEY,
    what    varchar(100) NOT NULL,
    message text
);
-- On a server that cannot pass over locked rows a shard is enough.
-- qgen:queue letters done=delete
CREATE TABLE letters (
    id   bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, -- qgen:shard mod
    body text NOT NULL
);
