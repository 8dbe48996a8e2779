-- Readings in the order of a sequence that is not unique: two stations count alike.
-- qgen:queue id=row
CREATE TABLE readings (
    seq    bigint NOT NULL,                     -- qgen:order
    value  int NOT NULL,                        -- qgen:payload
    status varchar(36) NOT NULL DEFAULT 'new'   -- qgen:status ready=new running=token done=done failed=error
);
