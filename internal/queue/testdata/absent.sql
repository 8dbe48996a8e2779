-- qgen:queue urls enqueue=absent
CREATE TABLE urls (
    id     bigserial PRIMARY KEY,
    url    text NOT NULL UNIQUE,
    status text NOT NULL DEFAULT 'todo' -- qgen:status ready=todo running=busy done=done
);
