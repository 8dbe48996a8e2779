-- The workers are those of one program, which resets what ran when it ended.

-- qgen:queue books done=delete recover=start
CREATE TABLE books (
    id   bigint AUTO_INCREMENT PRIMARY KEY,
    busy tinyint NOT NULL DEFAULT 0 -- qgen:status ready=0 running=1
);

-- Such a try counts, and the last of them fails the job.
-- qgen:queue mails recover=start
CREATE TABLE mails (
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    state char(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N claimed=C running=A done=D failed=F
    tries int DEFAULT 0 NOT NULL,      -- qgen:attempts up on=retry max=2
    node  varchar(40)                            -- qgen:worker
);
