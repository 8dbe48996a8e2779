-- What tells a state may stand in a table that the steps write as well.
CREATE TABLE records (
    id     bigint NOT NULL PRIMARY KEY,
    status varchar(20) NOT NULL
);
-- qgen:queue tasks done=delete
CREATE TABLE tasks (
    id     bigint NOT NULL PRIMARY KEY,
    record bigint NOT NULL,
    free   boolean NOT NULL, -- qgen:status ready=true running~"free = false and exists (select 1 from records b where b.id = {row}.record and b.status = 'running')" running:=false failed~"free = false and exists (select 1 from records b where b.id = {row}.record and b.status = 'error')" failed:=false
    since  bigint -- qgen:claimed as=epoch timeout=10s
);
