CREATE TABLE mails (
    id     serial PRIMARY KEY,
    text   text NOT NULL,
    failed boolean NOT NULL DEFAULT false
);
