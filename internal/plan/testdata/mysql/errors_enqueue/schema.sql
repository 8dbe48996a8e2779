-- A new row has no columns yet of which others could be made, but for those that the DDL has before them.
-- qgen:queue mails
CREATE TABLE mails (
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    state varchar(8) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=sent
    hash  char(32),                          -- qgen:on enqueue set "md5(body)"
    body  text NOT NULL
);

-- qgen:queue told
CREATE TABLE told (
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    state varchar(8) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=sent
    body  text NOT NULL,
    hash  char(32)                           -- qgen:on enqueue set "md5(body)"
);
