-- Rows with an id and nothing that says how far they are.
-- qgen:queue
CREATE TABLE outbox (
    id        bigserial PRIMARY KEY,
    recipient text NOT NULL
);
