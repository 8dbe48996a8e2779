-- A request that is done ends those of the same content that nobody has and that are not newer.
-- qgen:queue journal done=delete
CREATE TABLE journal (
    id     bigserial PRIMARY KEY,
    ident  text NOT NULL,
    holder text, -- qgen:status ready=null running=worker
    weight int DEFAULT 0 NOT NULL
);

CREATE TABLE tags (
    ident  text NOT NULL,
    lowest int NOT NULL,
    seen   int DEFAULT 0 NOT NULL
);
