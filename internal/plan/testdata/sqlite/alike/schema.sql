-- qgen:queue systasks enqueue=absent like="kind, target" among=ready
CREATE TABLE systasks (
    id     integer PRIMARY KEY,
    kind   text NOT NULL,
    target int,
    status varchar(10) NOT NULL DEFAULT 'TODO', -- qgen:status ready=TODO running=WIP done=DONE failed=ERROR
    since  integer -- qgen:claimed timeout=1h as=epoch
);
CREATE INDEX systasks_kind ON systasks (kind, status);

-- qgen:queue crawls enqueue=absent like="url" done=delete failed=delete
CREATE TABLE crawls (
    site   int NOT NULL,
    no     int NOT NULL,
    url    varchar(200) NOT NULL DEFAULT '/',
    till   integer, -- qgen:lease length=5m as=epoch
    PRIMARY KEY (site, no)
);
