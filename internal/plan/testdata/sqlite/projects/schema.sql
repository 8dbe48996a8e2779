-- Tables of public projects whose shapes the other cases do not have.
CREATE TABLE IF NOT EXISTS main."Queue" (
    message    TEXT NOT NULL,
    message_id TEXT NOT NULL,    -- qgen:id
    status     INTEGER NOT NULL, -- qgen:status ready=0 running=1 done=2 failed=3
    in_time    INTEGER NOT NULL, -- qgen:enqueued as=epoch
    lock_time  INTEGER,          -- qgen:claimed as=epoch timeout=5m
    done_time  INTEGER           -- qgen:finished as=epoch
);
CREATE TABLE "jobs" ("id" integer primary key autoincrement not null,
    "queue"        varchar not null, -- qgen:topic
    "payload"      text not null,    -- qgen:payload
    "attempts"     integer not null, -- qgen:attempts up on=claim
    "reserved_at"  integer,          -- qgen:claimed as=epoch timeout=90s
    "available_at" integer not null, -- qgen:due as=epoch
    "created_at"   integer not null); -- qgen:enqueued as=epoch
