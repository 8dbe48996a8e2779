-- An index holds the rows alone of which an expression has a value, and SQL asks for it.
CREATE TABLE document (
    uuid      varchar2(64 char) PRIMARY KEY,
    text      clob,
    extracted char(1 char) NOT NULL
);
CREATE INDEX document_pending ON document (CASE WHEN extracted = 'F' THEN uuid END);
