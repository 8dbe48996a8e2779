-- A node renders scenes that fit into its memory.
-- qgen:queue renders
CREATE TABLE renders (
    id        bigint PRIMARY KEY,
    memory_mb int NOT NULL,
    state     char(1) NOT NULL -- qgen:status ready=N running=A done=D failed=E
);
