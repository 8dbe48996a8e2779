-- An argument of which SQL asks alone whether it is null is of no type that the server could see.
-- qgen:queue reminders done=delete failed=delete
CREATE TABLE reminders (
    id   bigserial PRIMARY KEY,
    sent boolean NOT NULL DEFAULT false, -- qgen:status ready=false
    due  timestamptz NOT NULL,           -- qgen:payload; order 1
    kind integer NOT NULL,
    why  text -- qgen:error; on retry set null
);
