-- qgen:queue
CREATE TABLE jobs (
    id       int PRIMARY KEY,
    st       int NOT NULL,  -- qgen:status ready=0 running=1 done=2 failed=3
    due_at   char(16),      -- qgen:due as=text:'2006-01-02 15:04' clock=utc
    until_at char(16)       -- qgen:lease length=2m as=text:'2006-01-02 15:04' clock=utc expired=recover
);
