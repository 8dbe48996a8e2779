-- A state that is told by SQL has to be written back.
-- qgen:queue
CREATE TABLE mails (
    id    bigserial PRIMARY KEY,
    flags int NOT NULL DEFAULT 0, -- qgen:status ready~"flags & 3 = 0" running:="flags | 1" running~"flags & 3 = 1" done:="flags | 2"
    due   timestamptz             -- qgen:due
);
