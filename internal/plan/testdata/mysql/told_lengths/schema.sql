-- How long a claim is good, SQL over the row tells.

-- A worker shows itself every so many seconds as the row says.
-- qgen:queue syncs
CREATE TABLE syncs (
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    state varchar(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=done failed=failed
    every int DEFAULT 60 NOT NULL,
    seen  datetime(6) -- qgen:heartbeat timeout="every + 300" unit=s expired=fail
);

-- The lease is longer for what is large; without a size there is none.
-- qgen:queue uploads done=delete
CREATE TABLE uploads (
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    size_mb int,
    until_at datetime(6) -- qgen:lease length="size_mb * 2 + 1" unit=m
);

-- How long a job may take, its kind says.
-- qgen:queue scans
CREATE TABLE scans (
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    state varchar(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=done
    kind  varchar(40) NOT NULL,
    taken datetime(6) -- qgen:claimed timeout="(select k.patience from kinds k where k.kind = {row}.kind)"
);
CREATE TABLE kinds (kind varchar(40) PRIMARY KEY, patience int NOT NULL);
