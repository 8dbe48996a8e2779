-- A node renders scenes that fit into its memory, and may have any number of others before them.
-- qgen:queue renders
CREATE TABLE renders (
    id        bigint AUTO_INCREMENT PRIMARY KEY,
    site      varchar(80) NOT NULL,         -- qgen:topic
    scene     varchar(80) NOT NULL,         -- qgen:payload
    memory_mb int NOT NULL,                 -- qgen:payload
    urgency   int DEFAULT 0 NOT NULL,       -- qgen:priority desc
    state     char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    tries     int DEFAULT 0 NOT NULL,       -- qgen:attempts up on=claim max=5
    until_at  datetime(6),                  -- qgen:lease length=5m expired=recover clock=utc
    node      varchar(80)                   -- qgen:worker
);
