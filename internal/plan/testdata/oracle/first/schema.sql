-- A new job has as many tries as it may have at most.
-- qgen:queue tasks
CREATE TABLE tasks (
    id     number(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state  varchar2(10) NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    n_left number(9) NOT NULL, -- qgen:attempts down on=claim max=most
    most   number(9) NOT NULL,
    body   varchar2(10) NOT NULL
);
-- Counts begin at 0, also where the column may be null: other programs compare them.
-- qgen:queue notes
CREATE TABLE notes (
    id     number(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state  varchar2(10) NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    tries  number(9), -- qgen:attempts up on=claim max=5
    rev    number(9) DEFAULT NULL -- qgen:version
);
