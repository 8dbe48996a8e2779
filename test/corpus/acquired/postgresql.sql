-- Readers take rows from files into files_acquired, and when they are done from there to
-- files_processed.
-- qgen:queue files
CREATE TABLE files (
    id         bigserial PRIMARY KEY,
    path       text NOT NULL,
    size       bigint NOT NULL DEFAULT 0,
    tries      int NOT NULL DEFAULT 0, -- qgen:attempts max=2
    not_before timestamptz             -- qgen:due
);

CREATE TABLE files_acquired (
    id          bigint PRIMARY KEY,
    path        text NOT NULL,
    size        bigint NOT NULL DEFAULT 0,
    tries       int NOT NULL DEFAULT 0,
    problem     text,                 -- qgen:error
    acquired_by text NOT NULL,        -- qgen:worker
    acquired_at timestamptz NOT NULL, -- qgen:claimed
    lease_till  timestamptz NOT NULL, -- qgen:lease length=5m
    mark        uuid NOT NULL         -- qgen:token
);

CREATE TABLE files_processed (
    id          bigint PRIMARY KEY,
    path        text NOT NULL,
    acquired_by text NOT NULL
);

CREATE TABLE files_failed (
    id      bigint PRIMARY KEY,
    path    text NOT NULL,
    tries   int NOT NULL,
    problem text
);
