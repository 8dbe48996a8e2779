-- qgen:queue urls enqueue=ignore
CREATE TABLE urls (
    id     bigserial PRIMARY KEY,
    url    text NOT NULL UNIQUE,
    status text NOT NULL DEFAULT 'todo' -- qgen:status ready=todo running=busy done=done
);

-- qgen:queue hosts enqueue
CREATE TABLE hosts (
    id     bigserial PRIMARY KEY,
    host   text NOT NULL UNIQUE,
    status text NOT NULL DEFAULT 'todo' -- qgen:status ready=todo running=busy done=done
);
