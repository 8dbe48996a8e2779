-- Several jobs of one call share a row of another table, in which they are counted.
-- qgen:queue letters
CREATE TABLE letters (
    id      bigint IDENTITY PRIMARY KEY,
    address nvarchar(40) NOT NULL,
    weight    int NOT NULL,
    state   varchar(8) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=lost
    tries   int DEFAULT 0 NOT NULL, -- qgen:attempts max=3
    holder  nvarchar(40) -- qgen:worker
);

CREATE TABLE totals (
    address  nvarchar(40) NOT NULL PRIMARY KEY,
    kind     varchar(8) DEFAULT 'letter' NOT NULL,
    queued   int DEFAULT 0 NOT NULL,
    weight     int DEFAULT 0 NOT NULL,
    last_id  bigint,
    taken_at datetime2
);

CREATE TABLE workers (name nvarchar(40) NOT NULL PRIMARY KEY, done int DEFAULT 0 NOT NULL);

-- A row here belongs to one job.
CREATE TABLE tries (letter_id bigint NOT NULL PRIMARY KEY, n int DEFAULT 0 NOT NULL);
