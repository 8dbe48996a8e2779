-- qgen:queue jobs
CREATE TABLE jobs (
  id bigint AUTO_INCREMENT PRIMARY KEY,
  state varchar(10) NOT NULL, -- qgen:status ready=new running=busy done=done
  moved timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP -- qgen:order
);
