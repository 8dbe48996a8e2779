-- States in bytes.
-- qgen:queue tasks
CREATE TABLE tasks (
    id    integer PRIMARY KEY,
    state blob, -- qgen:status ready=null|free running='x:1' done='\x00ff' failed=failed; qgen:payload
    tries int NOT NULL DEFAULT 0 -- qgen:attempts up on=claim max=2
);

-- The owner tells a free row, whatever the time says that its last claim left.
-- qgen:queue segments done=delete
CREATE TABLE segments (
    id    integer PRIMARY KEY,
    owner text,   -- qgen:status ready=null running~set; worker
    since integer -- qgen:claimed as=epoch timeout=10s expired=claim
);
