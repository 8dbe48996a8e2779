-- qgen:queue jobs
CREATE TABLE jobs (
  id bigint NOT NULL,
  state varchar(10) NOT NULL, -- qgen:status ready=new running=busy done=done
  body text
) ENGINE=InnoDB;
SET @s = IF((SELECT COUNT(*) FROM information_schema.statistics WHERE table_name = 'jobs') > 0, 'SELECT 1', 'ALTER TABLE jobs ADD PRIMARY KEY (id)');
PREPARE st FROM @s;
EXECUTE st;
DEALLOCATE PREPARE st;
