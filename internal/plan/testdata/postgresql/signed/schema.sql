-- Who did what to a row, where no column says who has it.

-- qgen:queue letters
CREATE TABLE letters (
    id        bigserial PRIMARY KEY,
    state     text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=open done=sent failed=lost
    opened_by text,                        -- qgen:on claim set worker
    sent_by   text,                        -- qgen:on done,fail set worker
    added_by  text                         -- qgen:on enqueue set worker
);
