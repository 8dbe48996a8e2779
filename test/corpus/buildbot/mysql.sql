-- Buildbot's requests for builds: a master claims one by a row in buildrequest_claims, whose unique index lets in one of them,
-- and which stays when the request is complete. Times are epoch seconds.
CREATE TABLE masters (
    id integer NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name text NOT NULL,
    name_hash varchar(40) NOT NULL,
    active integer NOT NULL,
    last_active integer NOT NULL
) ENGINE=InnoDB;
CREATE UNIQUE INDEX master_name_hashes ON masters (name_hash);

CREATE TABLE buildsets (
    id integer NOT NULL AUTO_INCREMENT PRIMARY KEY,
    external_idstring varchar(256),
    reason varchar(256),
    submitted_at integer NOT NULL,
    complete smallint NOT NULL DEFAULT 0,
    complete_at integer,
    results smallint
) ENGINE=InnoDB;

CREATE TABLE builders (
    id integer NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name text NOT NULL,
    name_hash varchar(40) NOT NULL
) ENGINE=InnoDB;
CREATE UNIQUE INDEX builder_name_hash ON builders (name_hash);

-- qgen:queue requests
CREATE TABLE buildrequests (
    id integer NOT NULL AUTO_INCREMENT PRIMARY KEY,
    buildsetid integer NOT NULL,           -- qgen:payload
    builderid integer NOT NULL,            -- qgen:topic
    priority integer NOT NULL DEFAULT 0,   -- qgen:priority desc
    complete integer DEFAULT 0,            -- qgen:status ready=0 done=1
    results smallint,                      -- qgen:result
    submitted_at integer NOT NULL,         -- qgen:enqueued as=epoch; order 2
    complete_at integer,                   -- qgen:finished as=epoch
    waited_for smallint DEFAULT 0,         -- qgen:payload
    FOREIGN KEY (buildsetid) REFERENCES buildsets (id) ON DELETE CASCADE,
    FOREIGN KEY (builderid) REFERENCES builders (id) ON DELETE CASCADE
) ENGINE=InnoDB;
CREATE INDEX buildrequests_buildsetid ON buildrequests (buildsetid);
CREATE INDEX buildrequests_builderid ON buildrequests (builderid);
CREATE INDEX buildrequests_complete ON buildrequests (complete);

CREATE TABLE buildrequest_claims (
    brid integer NOT NULL,
    masterid integer NOT NULL,
    claimed_at integer NOT NULL,
    FOREIGN KEY (brid) REFERENCES buildrequests (id) ON DELETE CASCADE,
    FOREIGN KEY (masterid) REFERENCES masters (id) ON DELETE CASCADE
) ENGINE=InnoDB;
CREATE UNIQUE INDEX buildrequest_claims_brids ON buildrequest_claims (brid);
CREATE INDEX buildrequest_claims_masterid ON buildrequest_claims (masterid);
