-- InnoDB makes an index for each foreign key whose columns no other index begins with.
CREATE TABLE jobs (
    id     bigint NOT NULL PRIMARY KEY,
    owner  bigint NOT NULL,
    host   bigint NOT NULL,
    kind   bigint NOT NULL,
    shop   bigint NOT NULL,
    region bigint NOT NULL,
    at     bigint,
    KEY owner_at (owner, at),
    KEY shop (shop, region),
    CONSTRAINT of_owner FOREIGN KEY (owner) REFERENCES owners (id),
    CONSTRAINT of_host FOREIGN KEY (host) REFERENCES hosts (id) ON DELETE CASCADE,
    FOREIGN KEY by_kind (kind) REFERENCES kinds (id),
    FOREIGN KEY (region, shop) REFERENCES shops (region, id)
);
ALTER TABLE jobs ADD FOREIGN KEY (at) REFERENCES times (id);

-- The index stays when the foreign key goes, until it is dropped itself.
CREATE TABLE tasks (id int PRIMARY KEY, job int, kind int);
ALTER TABLE tasks ADD CONSTRAINT of_job FOREIGN KEY (job) REFERENCES jobs (id), ADD CONSTRAINT of_kind FOREIGN KEY (kind) REFERENCES kinds (id);
ALTER TABLE tasks DROP FOREIGN KEY of_job, DROP FOREIGN KEY of_kind;
DROP INDEX of_kind ON tasks;

-- Of two that begin alike the longer one serves both, and one that is written stays beside others.
CREATE TABLE steps (
    id int PRIMARY KEY, job int, kind int, host int,
    CONSTRAINT of_step FOREIGN KEY (job) REFERENCES jobs (id),
    CONSTRAINT of_kind_of_step FOREIGN KEY (job, kind) REFERENCES kinds_of_jobs (job, kind),
    KEY of_host (host), KEY host_job (host, job), CONSTRAINT of_host FOREIGN KEY (host) REFERENCES hosts (id)
);

-- Other engines know no foreign keys.
CREATE TABLE others (id int PRIMARY KEY, job int, CONSTRAINT of_others FOREIGN KEY (job) REFERENCES jobs (id)) ENGINE=MyISAM;
