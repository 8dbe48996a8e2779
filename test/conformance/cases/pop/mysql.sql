-- Fire and forget: a job that is taken is gone.
-- qgen:queue strategy=pop done=delete failed=delete
CREATE TABLE jobs (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    n  bigint NOT NULL                                  -- qgen:payload
) ENGINE=InnoDB;
