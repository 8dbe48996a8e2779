-- The state is spread over two columns.
-- qgen:queue
CREATE TABLE jobs (
    id         bigint IDENTITY NOT NULL PRIMARY KEY,
    n          bigint NOT NULL,                         -- qgen:payload
    state      char(1) NOT NULL DEFAULT 'N',            -- qgen:status ready=N running=N done=C failed=E
    locked     bit NOT NULL DEFAULT 0,                  -- qgen:status ready=false running=true done=false failed=false
    tries      int NOT NULL DEFAULT 0,                  -- qgen:attempts up on=retry max=3
    claimed_at datetimeoffset                           -- qgen:claimed timeout=1h
);
