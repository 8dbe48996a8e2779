CREATE TABLE files (
    path      bytea PRIMARY KEY,
    processed boolean NOT NULL DEFAULT false,
    urgent    boolean,
    hash_code int
);
