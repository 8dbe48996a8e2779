-- -1 takes one away; the number is written as SQL.
-- qgen:queue mails
CREATE TABLE mails (
    id     bigserial PRIMARY KEY,
    sent   boolean NOT NULL DEFAULT false, -- qgen:status ready=false done=true
    error  int NOT NULL DEFAULT -1, -- qgen:status ready=-1 failed~"error > 0" failed:=1; on redrive set -1
    code   int,                     -- qgen:on fail set "-1"
    tries  int NOT NULL DEFAULT 9   -- qgen:attempts down on=retry; on release set -1
);
