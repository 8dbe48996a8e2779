-- Steps that write rows of other jobs.
-- qgen:queue recalls
-- qgen:where "kind in ('tape', 'disk')"
CREATE TABLE recalls (
    id     bigserial PRIMARY KEY,
    batch  bigint NOT NULL,
    kind   text NOT NULL,
    state  text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=failed
    since  timestamptz, -- qgen:claimed timeout=1h
    tries  int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=5
    due    timestamptz NOT NULL DEFAULT now(), -- qgen:due; order 1
    weight int NOT NULL DEFAULT 0
);

-- A column that tells which rows are those of the queue is written to others.
-- qgen:queue moved
-- qgen:where "kind = 'tape'"
CREATE TABLE moved (
    id    bigserial PRIMARY KEY,
    batch bigint NOT NULL,
    kind  text NOT NULL,
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done failed=failed
);
