-- Every claim is of one step of one run, and its index begins with both: it leads to the ready rows of the
-- step, whatever of their values they have.
CREATE TABLE chunk (
    id         varchar(100) NOT NULL PRIMARY KEY,
    run_id     varchar(100) NOT NULL,
    step_id    varchar(100) NOT NULL,
    seq        int NOT NULL,
    state      varchar(20) NOT NULL,
    started    datetime2(6)
);
CREATE INDEX chunk_run ON chunk (run_id, seq);
CREATE INDEX chunk_step ON chunk (run_id, step_id, state, seq, id);
