-- A link is followed once, whoever asks for it.

-- qgen:queue links enqueue=absent
CREATE TABLE links (
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    url   varchar(40) NOT NULL UNIQUE,
    state varchar(20) DEFAULT 'new' NOT NULL -- qgen:status ready=new running=busy done=read
);
