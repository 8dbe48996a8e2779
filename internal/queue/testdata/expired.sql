-- A claim that has run out is ready: where a free row and a taken one are all that there
-- is, the status tells nothing of a ready row.
-- qgen:queue by_time done=delete
CREATE TABLE by_time (
    id    bigserial PRIMARY KEY,
    taken timestamptz -- qgen:status ready=null running=now; claimed timeout=5m expired=claim
);

-- qgen:queue by_token done=delete
CREATE TABLE by_token (
    id    bigserial PRIMARY KEY,
    mark  text NOT NULL DEFAULT '', -- qgen:status ready='' running=token
    until timestamptz               -- qgen:lease length=5m expired=claim
);

-- Of a null, some other value tells a running row.
-- qgen:queue by_worker done=delete
CREATE TABLE by_worker (
    id    bigserial PRIMARY KEY,
    who   text,       -- qgen:status ready=null|'nobody' running=worker
    until timestamptz -- qgen:lease length=5m expired=claim
);

-- qgen:queue by_truth done=delete
CREATE TABLE by_truth (
    id    bigserial PRIMARY KEY,
    busy  boolean NOT NULL DEFAULT false, -- qgen:status ready=false running=true
    until timestamptz                     -- qgen:lease length=5m expired=claim
);

-- A null is neither here, and so no job.
-- qgen:queue by_three done=delete
CREATE TABLE by_three (
    id    bigserial PRIMARY KEY,
    busy  boolean DEFAULT false, -- qgen:status ready=false running=true
    until timestamptz            -- qgen:lease length=5m expired=claim
);

-- qgen:queue by_mark done=delete
CREATE TABLE by_mark (
    id    bigserial PRIMARY KEY,
    mark  text DEFAULT '', -- qgen:status ready='' running=token
    until timestamptz      -- qgen:lease length=5m expired=claim
);

-- Who has a row tells a free one, whatever time the last claim left.
-- qgen:queue by_owner done=delete
CREATE TABLE by_owner (
    id    bigserial PRIMARY KEY,
    owner text,       -- qgen:status ready=null running~set; worker
    since timestamptz -- qgen:claimed timeout=10s expired=claim
);

-- Another program writes the owner and not the state: neither alone says who is free.
-- qgen:queue by_two done=delete
CREATE TABLE by_two (
    id    bigserial PRIMARY KEY,
    state int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1
    owner int,                    -- qgen:status ready=null running~set; on claim set arg:owner; on retry,release set null
    until timestamptz             -- qgen:lease length=5m expired=claim
);
