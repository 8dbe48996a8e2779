-- A claim says how heavy a letter may be.

-- qgen:queue letters
-- qgen:where "weight <= {arg:most int}"
CREATE TABLE letters (
    id     INTEGER PRIMARY KEY,
    weight INTEGER NOT NULL,
    sent   BOOLEAN NOT NULL DEFAULT 0, -- qgen:status ready=0 done=1
    holder TEXT                        -- qgen:worker mine=ready
);
