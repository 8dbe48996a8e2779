-- qgen:queue files
CREATE TABLE files (
    id         bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    path       varchar(200) NOT NULL,
    size       bigint NOT NULL DEFAULT 0,
    tries      int NOT NULL DEFAULT 0, -- qgen:attempts max=2
    not_before datetime(6) NULL        -- qgen:due null=now
) ENGINE=InnoDB;

CREATE TABLE files_acquired (
    id          bigint NOT NULL PRIMARY KEY,
    path        varchar(200) NOT NULL,
    size        bigint NOT NULL DEFAULT 0,
    tries       int NOT NULL DEFAULT 0,
    problem     text,                  -- qgen:error
    acquired_by varchar(100) NOT NULL, -- qgen:worker
    acquired_at datetime(6) NOT NULL,  -- qgen:claimed
    lease_till  datetime(6) NOT NULL,  -- qgen:lease length=5m
    mark        char(36) NOT NULL      -- qgen:token
) ENGINE=InnoDB;

CREATE TABLE files_processed (
    id          bigint NOT NULL PRIMARY KEY,
    path        varchar(200) NOT NULL,
    acquired_by varchar(100) NOT NULL
) ENGINE=InnoDB;

CREATE TABLE files_failed (
    id      bigint NOT NULL PRIMARY KEY,
    path    varchar(200) NOT NULL,
    tries   int NOT NULL,
    problem text
) ENGINE=InnoDB;
