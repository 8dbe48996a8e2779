-- An index ends with the number of the row.
-- qgen:queue numbered
CREATE TABLE numbered (
    id    integer PRIMARY KEY,
    topic text NOT NULL,             -- qgen:topic
    state text NOT NULL DEFAULT 'r'  -- qgen:status ready=r running=x done=d
);
CREATE INDEX numbered_topic ON numbered (state, topic);

-- Here with the key, which takes its place.
-- qgen:queue keyed
CREATE TABLE keyed (
    id    text PRIMARY KEY,
    topic text NOT NULL,             -- qgen:topic
    state text NOT NULL DEFAULT 'r'  -- qgen:status ready=r running=x done=d
)  WITHOUT ROWID;
CREATE INDEX keyed_topic ON keyed (state, topic);

-- And here with a number that is not the key.
-- qgen:queue beside
CREATE TABLE beside (
    id    text PRIMARY KEY,
    topic text NOT NULL,             -- qgen:topic
    state text NOT NULL DEFAULT 'r'  -- qgen:status ready=r running=x done=d
);
CREATE INDEX beside_topic ON beside (state, topic);

-- The topic stands amid the order, which makes this server sort.
-- qgen:queue amid
CREATE TABLE amid (
    id    integer PRIMARY KEY,
    topic text NOT NULL,             -- qgen:topic
    grade int NOT NULL,              -- qgen:order 1
    state text NOT NULL DEFAULT 'r'  -- qgen:status ready=r running=x done=d
);
CREATE INDEX amid_rank ON amid (state, grade, topic, id);
