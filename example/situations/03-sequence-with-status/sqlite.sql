-- Readings in the order of a sequence that is not unique: two stations count alike.
-- qgen:queue id=row
CREATE TABLE readings (
    seq    INTEGER NOT NULL,                     -- qgen:order
    value  INTEGER NOT NULL,                        -- qgen:payload
    status TEXT NOT NULL DEFAULT 'new'   -- qgen:status ready=new running=token done=done failed=error
);
