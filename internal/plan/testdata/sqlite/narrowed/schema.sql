-- A claim says how heavy a letter may be.

-- qgen:queue letters
-- qgen:where "weight <= {arg:most int}"
CREATE TABLE letters (
    id     INTEGER PRIMARY KEY,
    weight INTEGER NOT NULL,
    sent   BOOLEAN NOT NULL DEFAULT 0, -- qgen:status ready=0 done=1
    holder TEXT                        -- qgen:worker mine=ready
);

-- What a condition asks and a topic are two arguments, though Go would give them one name.
-- qgen:queue parcels
-- qgen:where "weight <= (select most from nodes where node = {arg:dataNode string})"
CREATE TABLE parcels (
    id        INTEGER PRIMARY KEY,
    data_node TEXT NOT NULL,              -- qgen:topic
    weight    INTEGER NOT NULL,
    state     TEXT NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=over
);
CREATE TABLE nodes (node TEXT PRIMARY KEY, most INTEGER NOT NULL);
