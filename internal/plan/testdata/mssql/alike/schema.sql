-- qgen:queue systasks enqueue=absent like="kind, target" among=ready
CREATE TABLE systasks (
    id     bigint IDENTITY PRIMARY KEY,
    kind   varchar(50) NOT NULL,
    target int,
    status varchar(10) NOT NULL DEFAULT 'TODO', -- qgen:status ready=TODO running=WIP done=DONE failed=ERROR
    since  datetime2(6) -- qgen:claimed timeout=1h
);
CREATE INDEX systasks_kind ON systasks (kind, status);

-- qgen:queue crawls enqueue=absent like="url" done=delete failed=delete
CREATE TABLE crawls (
    site   int NOT NULL,
    no     int NOT NULL,
    url    varchar(200) NOT NULL DEFAULT '/',
    till   datetime2(6), -- qgen:lease length=5m
    PRIMARY KEY (site, no)
);
