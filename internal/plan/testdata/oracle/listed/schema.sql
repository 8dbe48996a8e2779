-- Sites ask for their own blocks, and another table says in which order.
CREATE TABLE blocks (
    id     NUMBER(19) NOT NULL PRIMARY KEY,
    node   NUMBER(10) NOT NULL,
    status NUMBER(3) DEFAULT 0 NOT NULL,
    began  TIMESTAMP WITH TIME ZONE
);

-- The table has an index that begins with the site.
CREATE TABLE files (
    id     NUMBER(19) NOT NULL PRIMARY KEY,
    node   NUMBER(10) NOT NULL,
    status NUMBER(3) DEFAULT 0 NOT NULL,
    began  TIMESTAMP WITH TIME ZONE
);
CREATE INDEX files_node ON files (node, status);

CREATE TABLE priorities (
    id       NUMBER(19) NOT NULL PRIMARY KEY,
    priority NUMBER(9) NOT NULL
);
