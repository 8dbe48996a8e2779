-- qgen:queue done=delete
CREATE TABLE jobs (
    id     bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state  varchar(8) NOT NULL -- qgen:status ready=new running=busy
) ENGINE=MyISAM;
CREATE TABLE parts (job_id bigint NOT NULL, place int NOT NULL, PRIMARY KEY (job_id, place)) ENGINE=InnoDB;
