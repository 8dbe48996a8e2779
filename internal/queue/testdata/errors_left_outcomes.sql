-- An outcome that writes what a row has that somebody has.
CREATE TABLE parts (
    id      bigserial PRIMARY KEY,
    busy    int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done:=0
    percent int NOT NULL DEFAULT 0  -- qgen:status ready=0 done~"percent >= 100" done:=100
);
