-- The content of a job stands in another table, and is not there for every job.
CREATE TABLE bodies (
    job_n   bigint NOT NULL,
    kind    int NOT NULL,
    body    varchar(200) NOT NULL,
    made_at datetime(6),
    status  varchar(200) NOT NULL,
    PRIMARY KEY (job_n, kind)
) ENGINE=InnoDB;

-- qgen:queue strategy=pop done=delete failed=delete
CREATE TABLE jobs (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n  bigint NOT NULL                               -- qgen:payload
) ENGINE=InnoDB;
