-- Times without dashes are the same ones.
-- qgen:queue backups
CREATE TABLE backups (
    id     serial PRIMARY KEY,
    begun  timestamp NOT NULL DEFAULT '19000101', -- qgen:on enqueue,release set '19000101'
    day    date NOT NULL DEFAULT '19000101', -- qgen:on done set '20000101'
    state  int NOT NULL DEFAULT 0 -- qgen:status ready=0 running=1 done=2
);
