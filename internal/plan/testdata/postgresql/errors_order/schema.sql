-- qgen:queue
-- qgen:order "kind = 1 desc, id"
CREATE TABLE jobs (
    id    bigserial PRIMARY KEY,
    kind  int NOT NULL,
    uuid  uuid NOT NULL UNIQUE,
    state int NOT NULL DEFAULT 1 -- qgen:status ready=1 running=2 done=3
);
