-- A key that holds the state: of the rows of a site one is waiting, one active, one done.
-- And an order that every change of a row changes.

-- qgen:queue deployments
CREATE TABLE deployments (
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    site  varchar(40) NOT NULL,
    state varchar(10) NOT NULL DEFAULT 'waiting', -- qgen:status ready=waiting|again running=active done=done
    moved timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, -- qgen:order
    UNIQUE KEY one_of_each (site, state)
);
