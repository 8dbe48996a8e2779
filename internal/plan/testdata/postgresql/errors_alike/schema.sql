-- qgen:queue a enqueue=absent like="kind, at" done=delete
CREATE TABLE a (id bigserial PRIMARY KEY, kind boolean NOT NULL, at timestamptz, -- qgen:claimed timeout=5m
    body text);
-- qgen:queue b enqueue=absent like="kind" done=delete
CREATE TABLE b (id bigserial PRIMARY KEY, kind boolean NOT NULL, at timestamptz, -- qgen:claimed timeout=5m
    body text);
