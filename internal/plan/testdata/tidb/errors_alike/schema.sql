-- qgen:queue systasks enqueue=absent like="kind, target" among=ready
CREATE TABLE systasks (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    kind   varchar(50) NOT NULL,
    target int,
    status varchar(10) NOT NULL DEFAULT 'TODO', -- qgen:status ready=TODO running=WIP done=DONE failed=ERROR
    since  datetime(6) -- qgen:claimed timeout=1h
);
CREATE INDEX systasks_kind ON systasks (kind, status);

