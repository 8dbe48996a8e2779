-- Several jobs of one call share a row of another table, in which they are counted.
-- qgen:queue letters
CREATE TABLE letters (
    id      bigint AUTO_INCREMENT PRIMARY KEY,
    address varchar(40) NOT NULL,
    weight    int NOT NULL,
    state   varchar(8) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=lost
    tries   int DEFAULT 0 NOT NULL, -- qgen:attempts max=3
    holder  varchar(40) -- qgen:worker
);

CREATE TABLE totals (
    address  varchar(40) NOT NULL PRIMARY KEY,
    kind     varchar(8) DEFAULT 'letter' NOT NULL,
    queued   int DEFAULT 0 NOT NULL,
    weight     int DEFAULT 0 NOT NULL,
    last_id  bigint,
    taken_at datetime(6)
);

CREATE TABLE workers (name varchar(40) NOT NULL PRIMARY KEY, done int DEFAULT 0 NOT NULL);

-- A row here belongs to one job.
CREATE TABLE tries (letter_id bigint NOT NULL PRIMARY KEY, n int DEFAULT 0 NOT NULL);
