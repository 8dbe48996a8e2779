CREATE TABLE files (
    id        INTEGER PRIMARY KEY,
    processed BOOLEAN NOT NULL DEFAULT 0 -- qgen:status ready=0 done=1
);
CREATE TABLE blobs (
    id    BLOB PRIMARY KEY NOT NULL,
    state TEXT NOT NULL DEFAULT 'n' -- qgen:status ready=n running=r done=d
);
