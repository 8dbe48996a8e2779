-- A claim is the end of its jobs, and their rows stay.
-- qgen:queue strategy=pop clock=utc
CREATE TABLE urls (
    id        bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    job       int NOT NULL, -- qgen:topic
    uri       varchar(200) NOT NULL,
    processed tinyint NOT NULL DEFAULT 0, -- qgen:status ready=0 done=1
    seen      datetime(6) -- qgen:finished
);
-- qgen:queue strategy=pop clock=utc
CREATE TABLE flips (
    id        bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    status    varchar(200) NOT NULL,
    until_at  datetime(6), -- qgen:expires
    processed datetime(6) -- qgen:status ready=null done=now
);
