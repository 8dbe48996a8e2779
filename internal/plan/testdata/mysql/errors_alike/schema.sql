-- qgen:queue a enqueue=absent like="kind" done=delete
CREATE TABLE a (id bigint AUTO_INCREMENT PRIMARY KEY, kind varchar(20) NOT NULL, at datetime(6), -- qgen:claimed timeout=5m
    body varchar(20));
