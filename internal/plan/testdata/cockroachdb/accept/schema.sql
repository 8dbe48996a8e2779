-- A node renders scenes that fit into its memory, and may have any number of others before them.
-- qgen:queue renders
CREATE TABLE renders (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site      text NOT NULL,                -- qgen:topic
    scene     text NOT NULL,                -- qgen:payload
    memory_mb integer NOT NULL,             -- qgen:payload
    urgency   integer DEFAULT 0 NOT NULL,   -- qgen:priority desc
    state     char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    tries     integer DEFAULT 0 NOT NULL,   -- qgen:attempts up on=claim max=5
    until_at  timestamptz,                  -- qgen:lease length=5m expired=recover
    node      text                          -- qgen:worker
);
