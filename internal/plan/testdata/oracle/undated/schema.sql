-- Rows that nobody has keep the time by which Recover looks: among those that are ready, too, it would look.
-- qgen:queue jobs done=delete failed=delete
CREATE TABLE jobs (
    id         number(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    status     varchar2(20) NOT NULL, -- qgen:status ready=pending|failed running=sending
    updated_at timestamp(3) NOT NULL -- qgen:claimed timeout=1h; on enqueue,release,recover set now
);

-- Each step that leaves a row to nobody takes the time away.
-- qgen:queue mails done=delete failed=delete
CREATE TABLE mails (
    id       number(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    status   varchar2(20) NOT NULL, -- qgen:status ready=pending|failed running=sending
    taken_at timestamp(3) -- qgen:claimed timeout=1h
);
