-- Rows that nobody has keep the time by which Recover looks: among those that are ready, too, it would look.
-- qgen:queue jobs done=delete failed=delete
CREATE TABLE jobs (
    id         int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    status     varchar(20) NOT NULL, -- qgen:status ready=pending|failed running=sending
    updated_at datetime(3) NOT NULL -- qgen:claimed timeout=1h; on enqueue,release,recover set now
);

-- Each step that leaves a row to nobody takes the time away.
-- qgen:queue mails done=delete failed=delete
CREATE TABLE mails (
    id       int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    status   varchar(20) NOT NULL, -- qgen:status ready=pending|failed running=sending
    taken_at datetime(3) -- qgen:claimed timeout=1h
);
