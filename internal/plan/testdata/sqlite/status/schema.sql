-- States in bytes.
-- qgen:queue tasks
CREATE TABLE tasks (
    id    integer PRIMARY KEY,
    state blob, -- qgen:status ready=null|free running='x:1' done='\x00ff' failed=failed; qgen:payload
    tries int NOT NULL DEFAULT 0 -- qgen:attempts up on=claim max=2
);
