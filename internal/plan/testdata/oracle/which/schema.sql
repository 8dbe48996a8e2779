-- A request that is done ends those of the same content that nobody has and that are not newer.
-- qgen:queue journal done=delete
CREATE TABLE journal (
    id     NUMBER(19) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ident  VARCHAR2(40) NOT NULL,
    holder VARCHAR2(40), -- qgen:status ready=null running=worker
    weight NUMBER(9) DEFAULT 0 NOT NULL
);

CREATE TABLE tags (
    ident  VARCHAR2(40) NOT NULL,
    lowest NUMBER(9) NOT NULL,
    seen   NUMBER(9) DEFAULT 0 NOT NULL
);
