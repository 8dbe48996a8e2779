-- Due and lease in one column, said as one role and as two, with and without a status.
-- qgen:queue alone done=delete
CREATE TABLE alone (
  id  bigserial PRIMARY KEY,
  vis timestamptz NOT NULL, -- qgen:visible length=30s
  ver int NOT NULL          -- qgen:version
);
-- qgen:queue both done=delete
CREATE TABLE both_roles (
  id  bigserial PRIMARY KEY,
  vis timestamptz -- qgen:due null=never; lease length=wait unit=ms
  ,wait bigint NOT NULL
);
-- qgen:queue withstatus
CREATE TABLE withstatus (
  id  bigserial PRIMARY KEY,
  st  text NOT NULL,        -- qgen:status ready=N running=A done=C failed=E
  vis timestamptz NOT NULL, -- qgen:visible length=30s
  n   int                   -- qgen:attempts max=m
  ,m  int
);
-- What stands for always and for never is in neither state of the clock alone.
-- qgen:queue magic done=delete
CREATE TABLE magic (
  id  bigserial PRIMARY KEY,
  vis bigint NOT NULL, -- qgen:due as=epoch always=9999999999 never=2147483647; lease length=30s as=epoch
  ver int NOT NULL     -- qgen:version
);
