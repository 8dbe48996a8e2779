-- A claim is a row of its own, and what it took holds the id of that.
CREATE TABLE actions (
    id        bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    hook      varchar(191) NOT NULL,
    state     char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=E
    claimed   datetime,                     -- qgen:claimed timeout=5m
    claim_id  bigint unsigned NOT NULL DEFAULT 0 -- qgen:token free=0 from=companion
) ENGINE=InnoDB;
CREATE TABLE claims (
    id        bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    holder    varchar(60),
    made_at   datetime NOT NULL
) ENGINE=InnoDB;

-- Of an engine without transactions.
CREATE TABLE mails (
    id        bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state     char(1) NOT NULL, -- qgen:status ready=N running=A done=D
    run       int               -- qgen:token from=companion
) ENGINE=MyISAM;
CREATE TABLE runs (id int NOT NULL AUTO_INCREMENT PRIMARY KEY, began datetime) ENGINE=MyISAM;

-- Of a hook one action runs at a time.
CREATE TABLE hooks (name varchar(191) PRIMARY KEY);
