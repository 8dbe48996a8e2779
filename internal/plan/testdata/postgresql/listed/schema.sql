-- Sites ask for their own blocks, and another table says in which order.
CREATE TABLE blocks (
    id     bigint NOT NULL PRIMARY KEY,
    node   int NOT NULL,
    status int NOT NULL DEFAULT 0,
    began  timestamptz
);

-- The table has an index that begins with the site.
CREATE TABLE files (
    id     bigint NOT NULL PRIMARY KEY,
    node   int NOT NULL,
    status int NOT NULL DEFAULT 0,
    began  timestamptz
);
CREATE INDEX files_node ON files (node, status);

CREATE TABLE priorities (
    id       bigint NOT NULL PRIMARY KEY,
    priority int NOT NULL
);
