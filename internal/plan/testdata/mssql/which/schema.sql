-- A request that is done ends those of the same content that nobody has and that are not newer.
-- qgen:queue journal done=delete
CREATE TABLE journal (
    id     bigint NOT NULL IDENTITY PRIMARY KEY,
    ident  varchar(40) NOT NULL,
    holder varchar(40), -- qgen:status ready=null running=worker
    weight int DEFAULT 0 NOT NULL
);

CREATE TABLE tags (
    ident  varchar(40) NOT NULL,
    lowest int NOT NULL,
    seen   int DEFAULT 0 NOT NULL
);
