-- What comments say of times, leases and fences where annotations say otherwise.
-- The times of a claim are the caller's.
-- qgen:queue mails done=delete failed=delete
CREATE TABLE mails (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    body     TEXT NOT NULL,
    next_try INTEGER -- qgen:claimed as=epoch_ms; status ready~"true" running~set; on claim set arg:lease; on retry set arg:next; on release set null
);

CREATE TABLE hosts (name TEXT NOT NULL PRIMARY KEY);

-- Whole seconds tell claims apart, and nothing is a lease.
-- qgen:queue probes
CREATE TABLE probes (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    host  TEXT,
    since INTEGER                      -- qgen:claimed as=epoch
);

-- Extend says how far a job is, and leaves the lease alone.
-- qgen:queue scans
CREATE TABLE scans (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    state   TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    since   INTEGER,                     -- qgen:claimed as=epoch_ms timeout=1h; on renew set old
    message TEXT                         -- qgen:on renew set arg:message
);

-- Extend has the caller say until when.
-- qgen:queue loads
CREATE TABLE loads (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    till  INTEGER                      -- qgen:lease as=epoch_ms length=1h; on renew set arg:till
);

-- A row of a job that is done is as a ready one.
-- qgen:queue harvests
CREATE TABLE harvests (
    id    INTEGER PRIMARY KEY AUTOINCREMENT,
    state INTEGER NOT NULL DEFAULT 0, -- qgen:status ready=0|3 running=1 done:=0 failed=-1
    since INTEGER                     -- qgen:claimed as=epoch_ms timeout=1h
);

-- What is done may be scheduled again, as the row says.
-- qgen:queue rounds
CREATE TABLE rounds (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    enabled BOOLEAN NOT NULL,
    state   TEXT NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done; on done set "case when enabled then 'new' else 'done' end"
);

-- Extend tells what it has written of the payload, and Peek what it leaves out.
-- qgen:queue jobs
CREATE TABLE jobs (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    kind     TEXT NOT NULL,                 -- qgen:group limit=1
    state    TEXT NOT NULL DEFAULT 'new',   -- qgen:status ready=new running=busy done=done
    executed INTEGER,                       -- qgen:claimed as=epoch_ms; payload
    alive    INTEGER,                       -- qgen:heartbeat as=epoch_ms timeout=10m
    cancel   BOOLEAN NOT NULL DEFAULT false -- qgen:payload; on renew set "cancel"
);

-- Fail leaves the row as it is, and calls that a value.
-- qgen:queue queue done=delete
CREATE TABLE queue (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    server TEXT -- qgen:status ready=null running~"server is not null and server <> 'failed'" failed=failed; worker; on fail set "server"
);

-- A trigger begins the lease anew, whoever writes the row.
-- qgen:queue beats
CREATE TABLE beats (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    state   TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    host    TEXT,                        -- qgen:worker
    seen    INTEGER NOT NULL DEFAULT 0,  -- qgen:heartbeat as=epoch timeout=5m; on claim,renew set old
    message TEXT                         -- qgen:on renew set arg:message
);
CREATE TRIGGER beats_seen AFTER UPDATE ON beats BEGIN UPDATE beats SET seen = unixepoch() WHERE id = new.id; END;
