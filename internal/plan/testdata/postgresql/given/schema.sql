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

-- Who has a row from the beginning, its caller says as well: no claim takes that.
-- qgen:queue handed done=delete failed=delete
CREATE TABLE handed (
    id     serial PRIMARY KEY,
    worker text -- qgen:worker; on enqueue set arg:worker
);

-- Where rows that are a worker's own are ready for it, its claims take them.
-- qgen:queue lent done=delete failed=delete
CREATE TABLE lent (
    id     serial PRIMARY KEY,
    worker text -- qgen:worker mine=ready; on enqueue set arg:worker
);

-- Of a null and a value the caller says one.
-- qgen:queue dated strategy=pop done=delete
CREATE TABLE dated (
    id   serial PRIMARY KEY,
    shut date -- qgen:status ready~set; on enqueue set arg:shut
);

-- Which time that is does not make a job of another state.
-- qgen:queue timed
CREATE TABLE timed (
    id    serial PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=pending running=busy done=done
    due   timestamptz -- qgen:due; on enqueue set arg:due
);
