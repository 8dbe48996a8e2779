-- qgen:queue jobs
CREATE TABLE jobs (
  id bigint AUTO_INCREMENT PRIMARY KEY,
  state varchar(10) NOT NULL, -- qgen:status ready=new running=busy done=done
  moved timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP -- qgen:order
);

-- qgen:queue stamped
CREATE TABLE stamped (
  id bigint AUTO_INCREMENT PRIMARY KEY,
  state varchar(10) NOT NULL, -- qgen:status ready=new claimed=held running=busy done=done
  taken timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, -- qgen:claimed timeout=5m
  added datetime NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,  -- qgen:enqueued clock=utc; order
  touched timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP
);

-- qgen:queue bare
CREATE TABLE bare (
  id bigint AUTO_INCREMENT PRIMARY KEY,
  state varchar(10) NOT NULL, -- qgen:status ready=new running=busy done=done
  taken timestamp NOT NULL, -- qgen:claimed
  beat timestamp NOT NULL   -- qgen:heartbeat timeout=1m
);

-- qgen:queue said
CREATE TABLE said (
  id bigint AUTO_INCREMENT PRIMARY KEY,
  state varchar(10) NOT NULL, -- qgen:status ready=new running=busy done=done
  taken timestamp NULL, -- qgen:claimed
  beat timestamp NOT NULL -- qgen:heartbeat timeout=1m
);
