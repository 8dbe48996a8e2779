-- Each instance has one range of a stored hash: of all that the type holds, or of what is said.
-- qgen:queue files
CREATE TABLE files (
    id   bigint PRIMARY KEY,
    hash int NOT NULL,                   -- qgen:shard range
    done boolean NOT NULL DEFAULT false  -- qgen:status ready=false done=true
);
-- qgen:queue parts
CREATE TABLE parts (
    id   bigint PRIMARY KEY,
    hash bigint,                          -- qgen:shard range=0|4294967295
    state text NOT NULL DEFAULT 'new',    -- qgen:status ready=new running=busy done=over
    till timestamptz                      -- qgen:lease length=5m
);
