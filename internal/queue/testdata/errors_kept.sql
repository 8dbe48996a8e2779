-- A job that is tried again would stay as it is, and Fail could only end it.
-- qgen:queue jobs done=delete failed=delete
CREATE TABLE jobs (
    id       bigserial PRIMARY KEY,
    taken_at timestamptz, -- qgen:claimed timeout=5m; on retry,release set old
    tries    int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=3; on retry set old
    body     text NOT NULL
);
