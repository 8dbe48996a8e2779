CREATE TABLE tasks (
    id     bigserial PRIMARY KEY,
    status int NOT NULL DEFAULT 0,
    data   text NOT NULL
);
CREATE INDEX tasks_ready ON tasks (id NULLS FIRST) WHERE status = 0;
