-- qgen:queue counted enqueue=absent
CREATE TABLE counted (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);

-- qgen:queue made enqueue=absent
CREATE TABLE made (
    id    uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    mark  uuid UNIQUE, -- qgen:token
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);

-- qgen:queue late enqueue=absent
CREATE TABLE late (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL UNIQUE DEFERRABLE INITIALLY DEFERRED,
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);

-- qgen:queue late_table enqueue=absent
CREATE TABLE late_table (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    UNIQUE (url) DEFERRABLE
);

-- qgen:queue old enqueue=absent
CREATE TABLE old (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL UNIQUE,
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);

-- qgen:queue partial enqueue=absent
CREATE TABLE partial (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL UNIQUE,
    kind  text NOT NULL, -- qgen:ignore
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
