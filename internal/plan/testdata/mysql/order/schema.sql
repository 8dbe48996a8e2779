-- An assignment sees those before it: what reads a column stands in front of what
-- writes it.
-- qgen:queue tasks
CREATE TABLE tasks (
    id       bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    st       varchar(8) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=dead
    tries    int NOT NULL DEFAULT 0,            -- qgen:attempts up on=retry max=3
    was      varchar(8),                        -- qgen:on done,retry set "st"
    tried    int,                               -- qgen:on retry set "tries"
    due_at   datetime NULL,                     -- qgen:due clock=utc
    due_was  datetime NULL,                     -- qgen:on retry set "due_at"
    body     text NOT NULL                      -- qgen:payload
);
