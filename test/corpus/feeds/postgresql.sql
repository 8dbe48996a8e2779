-- A feed is there once, however often its publisher says that there is something new in it. Who
-- reads it at that moment is turned away, and it is read again.

-- qgen:queue feeds enqueue=update done=delete
CREATE TABLE feeds (
    id      bigserial PRIMARY KEY,
    url     text NOT NULL UNIQUE,        -- qgen:payload
    edition int NOT NULL CHECK (edition > 0), -- qgen:payload
    note    text,                        -- qgen:payload
    asked   int NOT NULL DEFAULT 1,      -- qgen:payload; on update set +1
    weight  int NOT NULL DEFAULT 0,      -- qgen:payload; on update set "greatest(weight, {new}.weight)"
    state   text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy
    until   timestamptz,                 -- qgen:lease length=1s expired=recover
    rev     int NOT NULL DEFAULT 0       -- qgen:version; on update set +1
);
