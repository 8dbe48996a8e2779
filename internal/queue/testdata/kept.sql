-- A job that is given back stays as due as it was, and the end of its transaction does that.
-- qgen:queue strategy=hold done=delete
CREATE TABLE held (
    id  bigserial PRIMARY KEY,
    due timestamptz -- qgen:due; on release set old
);
-- A claim cannot be renewed.
-- qgen:queue whole done=delete
CREATE TABLE whole (
    id    bigserial PRIMARY KEY,
    since timestamptz -- qgen:claimed timeout=6h; on renew set old
);
