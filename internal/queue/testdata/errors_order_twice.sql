-- qgen:queue done=delete
CREATE TABLE ranked (
  id bigint PRIMARY KEY,
  p  int NOT NULL -- qgen:priority desc; qgen:order 2 asc
);
-- qgen:queue done=delete
-- qgen:order made desc, id
CREATE TABLE listed (
  id   bigint PRIMARY KEY,
  p    int NOT NULL,
  made timestamptz -- qgen:order 1
);
-- qgen:queue done=delete
-- qgen:order p, id, p
CREATE TABLE again (
  id   bigint PRIMARY KEY,
  p    int NOT NULL
);
