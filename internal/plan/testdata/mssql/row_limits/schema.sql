-- No index leads to claims that ran out where each row says by itself how long one is good.

-- An index of the table has the rows that somebody has.
-- qgen:queue kept
CREATE TABLE kept (
    id    bigint IDENTITY PRIMARY KEY,
    state varchar(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=done
    every int DEFAULT 60 NOT NULL,
    seen  datetime2 -- qgen:heartbeat timeout=every unit=s
);
CREATE INDEX kept_state ON kept (state, seen);

-- SQL that reads nothing of the row is one time for all.
-- qgen:queue alike
CREATE TABLE alike (
    id    bigint IDENTITY PRIMARY KEY,
    state varchar(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=done
    seen  datetime2 -- qgen:heartbeat timeout="(select s.patience from settings s where s.name = 'alike')" unit=s
);
CREATE TABLE settings (name varchar(40) PRIMARY KEY, patience int NOT NULL);

-- Rows that nobody has have no time.
-- qgen:queue untold
CREATE TABLE untold (
    id    bigint IDENTITY PRIMARY KEY,
    ended datetime2, -- qgen:status ready=null running=null done=now
    every int DEFAULT 60 NOT NULL,
    seen  datetime2 -- qgen:heartbeat timeout=every unit=s expired=recover; claimed
);

-- The same, and an index of the table is on the time.
-- qgen:queue indexed
CREATE TABLE indexed (
    id    bigint IDENTITY PRIMARY KEY,
    ended datetime2, -- qgen:status ready=null running=null done=now
    every int DEFAULT 60 NOT NULL,
    seen  datetime2 -- qgen:heartbeat timeout=every unit=s expired=recover; claimed
);
CREATE INDEX indexed_seen ON indexed (seen);

-- Several values say that somebody has a row, and the claim's index does not begin with them.
-- qgen:queue flagged
CREATE TABLE flagged (
    id    bigint IDENTITY PRIMARY KEY,
    state varchar(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy|stopping done=done; on renew set old
    open  int DEFAULT 1 NOT NULL,
    every int DEFAULT 60 NOT NULL,
    seen  datetime2 -- qgen:heartbeat timeout=every unit=s
);
CREATE INDEX flagged_open ON flagged (open, id);
