-- Sites ask for their own blocks, and another table says in which order.
CREATE TABLE blocks (
    id     bigint NOT NULL PRIMARY KEY,
    node   int NOT NULL,
    status int NOT NULL DEFAULT 0,
    began  datetime(6)
);

-- The table has an index that begins with the site.
CREATE TABLE files (
    id     bigint NOT NULL PRIMARY KEY,
    node   int NOT NULL,
    status int NOT NULL DEFAULT 0,
    began  datetime(6)
);
CREATE INDEX files_node ON files (node, status);

-- The key stands at the end of each index by itself, and columns of one value in any order.
CREATE TABLE tasks (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    host     int NOT NULL,
    task     varchar(20) NOT NULL,
    active   int NOT NULL DEFAULT 0,
    complete int NOT NULL DEFAULT 0,
    KEY tasks_waiting (complete, active, host, id)
);
CREATE TABLE lost (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    task     varchar(20) NOT NULL,
    active   int NOT NULL DEFAULT 0,
    complete int NOT NULL DEFAULT 0
);

CREATE TABLE priorities (
    id       bigint NOT NULL PRIMARY KEY,
    priority int NOT NULL
);
CREATE TABLE hosts (
    id int NOT NULL PRIMARY KEY
);
-- The state is what callers ask for as well.
CREATE TABLE mails (
    id     bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    status enum('pending','error','sending','sent') NOT NULL DEFAULT 'pending',
    body   text NOT NULL
);
