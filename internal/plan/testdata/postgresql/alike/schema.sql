-- qgen:queue systasks enqueue=absent like="kind, target" among=ready
CREATE TABLE systasks (
    id     bigserial PRIMARY KEY,
    kind   text NOT NULL,
    target int,
    status varchar(10) NOT NULL DEFAULT 'TODO', -- qgen:status ready=TODO running=WIP done=DONE failed=ERROR
    since  timestamptz -- qgen:claimed timeout=1h
);
CREATE INDEX systasks_kind ON systasks (kind, status);

-- qgen:queue crawls enqueue=absent like="url" done=delete failed=delete
CREATE TABLE crawls (
    site   int NOT NULL,
    no     int NOT NULL,
    url    varchar(200) NOT NULL DEFAULT '/',
    till   timestamptz, -- qgen:lease length=5m
    PRIMARY KEY (site, no)
);

-- qgen:queue puts enqueue=absent like="method, args" done=delete failed=delete
CREATE TABLE puts (
    id     bigserial PRIMARY KEY,
    method varchar(40) NOT NULL,
    args   text NOT NULL,
    till   timestamptz -- qgen:lease length=5m
);
CREATE INDEX puts_method ON puts (method);
