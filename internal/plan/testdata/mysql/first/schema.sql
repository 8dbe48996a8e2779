-- A new job has as many tries as it may have at most.
-- qgen:queue tasks
CREATE TABLE tasks (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    state  varchar(10) NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    n_left int NOT NULL, -- qgen:attempts down on=claim max=most
    most   int NOT NULL,
    body   varchar(10) NOT NULL
);
-- Counts begin at 0, also where the column may be null: other programs compare them.
-- qgen:queue notes
CREATE TABLE notes (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    state  varchar(10) NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    tries  int, -- qgen:attempts up on=claim max=5
    rev    int DEFAULT NULL -- qgen:version
);
