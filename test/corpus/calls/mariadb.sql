CREATE TABLE tenants (
    id bigint NOT NULL PRIMARY KEY
) ENGINE=InnoDB;

-- Of the calls of one tenant so many run at once, of whatever kind they are; those of none run as
-- they come.
-- qgen:queue
CREATE TABLE calls (
    id     bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    tenant bigint,                                -- qgen:group limit=1 free=null
    kind   varchar(16) NOT NULL,                  -- qgen:topic
    status varchar(16) NOT NULL DEFAULT 'ready',  -- qgen:status ready=ready running=running done=done failed=failed
    token  binary(16)                             -- qgen:token
) ENGINE=InnoDB;
