-- What a new job is, its caller says.
-- qgen:queue captures
CREATE TABLE captures (
    id     serial PRIMARY KEY, -- qgen:on enqueue set arg:id
    state  text NOT NULL, -- qgen:status ready=pending|again running=busy done=done; on enqueue set arg:state
    failed boolean NOT NULL DEFAULT true -- qgen:status ready=false; on enqueue set arg:failed
);

-- What SQL has of it is another matter, and what a constant has.
-- qgen:queue copies
CREATE TABLE copies (
    id    serial PRIMARY KEY,
    state text NOT NULL -- qgen:status ready=pending running=busy done=done; on enqueue set "coalesce({arg:wish string}, 'draft')"
);

-- qgen:queue drafts
CREATE TABLE drafts (
    id    serial PRIMARY KEY,
    state text NOT NULL -- qgen:status ready=pending running=busy done=done; on enqueue set draft
);
