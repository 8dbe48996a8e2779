-- What a claim asks besides the state: conditions with arguments, and rows that
-- wait for one worker.

-- qgen:queue letters
-- qgen:where "weight <= {arg:most int} and {arg:country string} = any (countries)"
CREATE TABLE letters (
    id        bigserial PRIMARY KEY,
    state     text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=sent done=there failed=back
    posted_at timestamptz NOT NULL,        -- qgen:enqueued; order 1
    weight    int NOT NULL,                -- qgen:ignore
    countries text[] NOT NULL              -- qgen:ignore
);

-- Nothing marks a parcel that is under way: the row lock does.
-- qgen:queue parcels
-- qgen:where "weight <= {arg:most int}"
CREATE TABLE parcels (
    id     bigserial PRIMARY KEY,
    gone   boolean NOT NULL DEFAULT false, -- qgen:status ready=false done=true
    weight int NOT NULL
);

-- A row that has a holder is ready for that one.
-- qgen:queue visits
CREATE TABLE visits (
    id      bigserial PRIMARY KEY,
    visitor text,                          -- qgen:worker mine=ready
    over    boolean NOT NULL DEFAULT false -- qgen:status ready=false done=true
);

-- Nothing at all marks a crate; it is gone when it is delivered.
-- qgen:queue crates done=delete
-- qgen:where "weight <= {arg:most int}"
CREATE TABLE crates (
    id     bigserial PRIMARY KEY,
    weight int NOT NULL
);

-- The caller names the rows by their key: they are found by that.
-- qgen:queue chosen
CREATE TABLE chosen (
    id    bigserial PRIMARY KEY,                  -- qgen:topic list
    state text NOT NULL DEFAULT 'new',            -- qgen:status ready=new running=sent done=there
    rank  int NOT NULL                            -- qgen:order 1
);
-- qgen:queue single
-- qgen:where "id = {arg:id int64}"
CREATE TABLE single (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new'             -- qgen:status ready=new running=sent done=there
);
