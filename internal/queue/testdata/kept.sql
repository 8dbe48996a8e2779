-- A job that is given back stays as due as it was, and the end of its transaction does that.
-- qgen:queue strategy=hold done=delete
CREATE TABLE held (
    id  bigserial PRIMARY KEY,
    due timestamptz -- qgen:due; on release set old
);
