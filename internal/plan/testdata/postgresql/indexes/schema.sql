-- A free row and a taken one are all that there is: the key serves a claim.
CREATE TABLE taken (
    id    bigserial PRIMARY KEY,
    taken timestamptz -- qgen:status ready=null running=now; claimed timeout=5m expired=claim
);
