-- A job that is tried again would stay as it is, and Fail could only end it.
-- qgen:queue jobs done=delete failed=delete
CREATE TABLE jobs (
    id       bigserial PRIMARY KEY,
    taken_at timestamptz, -- qgen:claimed timeout=5m; on retry,release set old
    tries    int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=3; on retry set old
    body     text NOT NULL
);
-- qgen:queue strategy=hold
CREATE TABLE held (
    id   bigserial PRIMARY KEY,
    done timestamptz -- qgen:status ready=null done:=old
);
-- qgen:queue
CREATE TABLE redriven (
    id    bigserial PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=N running=A done=D
    tries int NOT NULL DEFAULT 0 -- qgen:attempts up on=claim max=3; on redrive set old
);
-- The column holds a wait, which comes back where old is left out.
-- qgen:queue done=delete
CREATE TABLE waits (
    id   bigserial PRIMARY KEY,
    till timestamptz NOT NULL -- qgen:visible length=3m; on retry,release set old
);
