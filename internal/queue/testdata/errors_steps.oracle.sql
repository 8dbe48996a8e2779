-- qgen:queue done=delete
CREATE TABLE jobs (
    id       NUMBER(9) NOT NULL PRIMARY KEY,
    until_at DATE NULL       -- qgen:lease length=1s clock=utc
);
