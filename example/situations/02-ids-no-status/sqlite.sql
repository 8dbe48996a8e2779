-- Rows with an id and nothing that says how far they are.
-- qgen:queue
CREATE TABLE outbox (
    id        INTEGER PRIMARY KEY,
    recipient text NOT NULL
);
