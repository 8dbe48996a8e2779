-- qgen:queue counted enqueue=update
CREATE TABLE counted (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);

-- qgen:queue late enqueue=update
CREATE TABLE late (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL UNIQUE DEFERRABLE INITIALLY DEFERRED,
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);

-- qgen:queue old enqueue=update
CREATE TABLE old (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL UNIQUE,
    body  text,
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);

-- qgen:queue several enqueue=update
CREATE TABLE several (
    id    uuid PRIMARY KEY,
    url   text NOT NULL,
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
CREATE UNIQUE INDEX several_url ON several (lower(url));

-- qgen:queue misnamed enqueue=update key=misnamed_uri
CREATE TABLE misnamed (
    id    uuid PRIMARY KEY,
    url   text NOT NULL,
    body  text,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    CONSTRAINT misnamed_url UNIQUE (url)
);

-- qgen:queue same enqueue=update
CREATE TABLE same (
    site  int NOT NULL,
    path  text NOT NULL,
    host  text NOT NULL,              -- qgen:group limit=2
    note  text,                       -- qgen:on update set old
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    PRIMARY KEY (site, path)
);

-- qgen:queue written enqueue=update
CREATE TABLE written (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL,               -- qgen:on update set "url || '!'"
    tries int NOT NULL DEFAULT 0,      -- qgen:attempts up max=3; on update set "{new}.tries"
    body  text,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=bad
    UNIQUE (url)
);

-- qgen:queue partial enqueue=update
CREATE TABLE partial (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL UNIQUE,
    kind  text NOT NULL, -- qgen:ignore
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);

-- qgen:queue keyed enqueue=update
CREATE TABLE keyed (
    id    bigserial PRIMARY KEY, -- qgen:on update set "id + 1"
    url   text NOT NULL UNIQUE,
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);

-- qgen:queue unbrought enqueue=update
CREATE TABLE unbrought (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL UNIQUE,
    body  text,
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
