-- qgen:queue empty
CREATE TABLE empty (
    id     bigserial PRIMARY KEY,
    status text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);

-- qgen:queue items
CREATE TABLE items (
    id     bigserial PRIMARY KEY,
    kind   text NOT NULL,
    status text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    until  timestamptz -- qgen:lease length=5m
);

-- qgen:queue dull
CREATE TABLE dull (
    id     bigserial PRIMARY KEY,
    status text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    secret text NOT NULL -- qgen:ignore
);

-- qgen:queue fresh
CREATE TABLE fresh (
    id     uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    trace  text NOT NULL, -- qgen:on enqueue set "md5(random()::text)"
    status text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
