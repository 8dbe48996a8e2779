-- qgen:queue systasks enqueue=absent like="kind, target" among=ready
CREATE TABLE systasks (
    id     bigserial PRIMARY KEY,
    kind   text NOT NULL,
    target int,
    status varchar(10) NOT NULL DEFAULT 'TODO', -- qgen:status ready=TODO running=WIP done=DONE failed=ERROR
    since  timestamptz -- qgen:claimed timeout=1h
);
CREATE INDEX systasks_kind ON systasks (kind, status);

