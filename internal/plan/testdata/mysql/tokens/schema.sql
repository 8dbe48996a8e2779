-- No two rows may have one token, so each row of a claim gets its own.
CREATE TABLE messages (
    id     bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    handle char(32),         -- qgen:token
    taken  datetime(6),      -- qgen:claimed timeout=30s
    body   text,
    UNIQUE KEY message_handle (handle)
);

-- Nor in one state.
CREATE TABLE numbered (
    id     bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state  varchar(8) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    handle bigint,                            -- qgen:token
    UNIQUE KEY state_handle (state, handle)
);
CREATE TABLE raws (
    id     bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state  varchar(8) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    handle binary(20) UNIQUE                  -- qgen:token
);

-- Rows differ in the id, whatever the token.
CREATE TABLE apart (
    id     bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state  varchar(8) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    handle char(32),                          -- qgen:token
    UNIQUE KEY handle_id (handle, id)
);

-- The token stands in the table of the jobs that run.
CREATE TABLE waiting (
    id   bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    body text
);
CREATE TABLE active (
    id     bigint NOT NULL PRIMARY KEY,
    body   text,
    handle char(32) NOT NULL UNIQUE,  -- qgen:token
    taken  datetime(6) NOT NULL       -- qgen:claimed timeout=30s
);

-- What the index of a claim begins with is the same in rows that wait: it does not lead to a token.
CREATE TABLE papers (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    retired tinyint(1) NOT NULL,                   -- qgen:status ready=0 done=1 failed:=1
    room    varchar(40) NOT NULL,                  -- qgen:topic
    handle  varchar(64) NOT NULL DEFAULT '',       -- qgen:token free=''
    pulled  datetime NULL                          -- qgen:claimed timeout=5m expired=claim
);
