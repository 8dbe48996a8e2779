-- qgen:queue systasks enqueue=absent like="kind, target" among=ready
CREATE TABLE systasks (
    id     number(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind   varchar2(50) NOT NULL,
    target number(9),
    status varchar2(10) DEFAULT 'TODO' NOT NULL, -- qgen:status ready=TODO running=WIP done=DONE failed=ERROR
    since  timestamp with time zone -- qgen:claimed timeout=1h
);
CREATE INDEX systasks_kind ON systasks (kind, status);

