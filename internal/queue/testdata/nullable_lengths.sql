-- Lengths of time that a row may leave open.
-- qgen:queue leased
CREATE TABLE leased (
    id    bigserial PRIMARY KEY,
    state int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2
    hold  int,
    till  timestamptz             -- qgen:lease length=hold unit=s
);
-- qgen:queue timed
CREATE TABLE timed (
    id    bigserial PRIMARY KEY,
    state int NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2
    hold  int,
    since timestamptz             -- qgen:claimed timeout=hold unit=s
);
