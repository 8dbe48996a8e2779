-- An index ends with the key of the table, which orders the rows of one topic; a unique one
-- does not.
-- qgen:queue ended
CREATE TABLE ended (
    id    int8 PRIMARY KEY,
    topic text NOT NULL,             -- qgen:topic
    state text NOT NULL DEFAULT 'r'  -- qgen:status ready=r running=x done=d
);
CREATE UNIQUE INDEX ended_u ON ended (state, topic);
CREATE INDEX ended_i ON ended (state, topic);
