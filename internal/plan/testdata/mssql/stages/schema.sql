-- What one stage has done, the next has yet to do: Purge of the first leaves it.
CREATE TABLE compactions (
    id      bigint NOT NULL PRIMARY KEY,
    state   char(1) NOT NULL,       -- qgen:status(compact) ready=i running=w done=r failed=f; qgen:status(clean) ready=r running=r done=s failed=x
    started datetime2,              -- qgen:claimed(compact) timeout=24h
    cleaned datetime2,              -- qgen:claimed(clean) timeout=1h
    ended   datetime2               -- qgen:finished(clean)
);
