-- The state is some bits of a number.
-- qgen:queue bits
CREATE TABLE bits (
    id    INTEGER PRIMARY KEY,
    flags INTEGER NOT NULL DEFAULT 1, -- qgen:status ready~"{row}.flags & 3 = 1" ready:="{row}.flags & ~2" running:="{row}.flags | 2" running~"{row}.flags & 2 = 2" done=4 failed=8
    body  TEXT NOT NULL
);
