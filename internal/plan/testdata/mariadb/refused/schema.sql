-- Rows that a locking read refuses stay locked where an index led to them: claims of one kind find their rows first,
-- so that those of another kind are free, and so does Purge those that are old enough.
-- qgen:queue clock=utc
CREATE TABLE jobs (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=dead
    kind    varchar(20) NOT NULL, -- qgen:topic list
    till    datetime(6), -- qgen:lease length=5m
    ended   datetime(6), -- qgen:finished
    KEY jobs_next (state, id)
) ENGINE=InnoDB;

-- The claim lasts as long as the lock. What the transaction holds already is left out.
-- qgen:queue calls strategy=hold
CREATE TABLE calls (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new done=done
    kind    varchar(20), -- qgen:topic any=null
    KEY calls_next (state, id)
) ENGINE=InnoDB;

-- Instances share the table.
-- qgen:queue parts clock=utc done=delete
CREATE TABLE parts (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, -- qgen:shard mod
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy
    till    datetime(6) -- qgen:lease length=5m
) ENGINE=InnoDB;

-- No claim takes what waits for its time: the head tells that it is locked.
-- qgen:queue mails clock=utc done=delete
CREATE TABLE mails (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy
    due_at  datetime(6) NOT NULL, -- qgen:due
    prio    int NOT NULL, -- qgen:priority asc
    till    datetime(6) -- qgen:lease length=5m
) ENGINE=InnoDB;

-- Which kinds there are, and who does which.
CREATE TABLE kinds (
    kind    varchar(20) NOT NULL PRIMARY KEY,
    agent   varchar(20) NOT NULL
) ENGINE=InnoDB;

-- The caller says who it is, and another table what it may do: a join drops what others do, behind its lock.
-- qgen:queue tasks clock=utc
CREATE TABLE tasks (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=failed
    kind    varchar(20) NOT NULL,
    ended   datetime(6), -- qgen:finished
    till    datetime(6), -- qgen:lease length=5m
    KEY tasks_next (state, id)
) ENGINE=InnoDB;

-- The same with the lock as the claim, and as what the caller does not do.
-- qgen:queue chats strategy=hold
CREATE TABLE chats (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new done=done
    kind    varchar(20) NOT NULL,
    KEY chats_next (state, id)
) ENGINE=InnoDB;

-- No caller takes what another table refuses: the head tells that it is locked.
-- qgen:queue faxes clock=utc
CREATE TABLE faxes (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    kind    varchar(20) NOT NULL,
    till    datetime(6), -- qgen:lease length=5m
    KEY faxes_next (state, id)
) ENGINE=InnoDB;
