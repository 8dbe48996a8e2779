-- The state is spread over two columns.
-- qgen:queue
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY,
    n          INTEGER NOT NULL,                     -- qgen:payload
    state      CHAR(1) NOT NULL DEFAULT 'N',         -- qgen:status ready=N running=N done=C failed=E
    locked     BOOLEAN NOT NULL DEFAULT FALSE,       -- qgen:status ready=false running=true done=false failed=false
    tries      INTEGER NOT NULL DEFAULT 0,           -- qgen:attempts up on=retry max=3
    claimed_at INTEGER                               -- qgen:claimed timeout=1h as=epoch_ms
);
