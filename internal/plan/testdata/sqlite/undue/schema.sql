-- A null is never due, and one column is the time of the claim as well: NewJob says when a new job is due.
-- qgen:queue monitor
CREATE TABLE monitor (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    state  TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new done=done
    host   TEXT,                        -- qgen:status ready=null running~set done=null; worker free=null
    at     INTEGER                      -- qgen:due as=epoch add=5m null=never; claimed as=epoch timeout=10m expired=claim; on retry,done set now; on release set old
);
-- Here it is due at once.
-- qgen:queue mended
CREATE TABLE mended (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    state  TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new done=done
    host   TEXT,                        -- qgen:status ready=null running~set done=null; worker free=null
    at     INTEGER                      -- qgen:due as=epoch add=5m null=never; claimed as=epoch timeout=10m expired=claim; on retry,done,enqueue set now; on release set old
);
-- Here NewJob says it.
-- qgen:queue told
CREATE TABLE told (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    state  TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    at     INTEGER                      -- qgen:due as=epoch null=never
);
-- It is the time of the end as well: nobody can say when a new job is due.
-- qgen:queue ended
CREATE TABLE ended (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    state  TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    at     INTEGER                      -- qgen:due as=epoch null=never; finished
);
-- A null is due as well, and the order is that of the times.
-- qgen:queue doovers
CREATE TABLE doovers (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    state  TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    at     INTEGER                      -- qgen:due as=epoch; order 1
);
