-- Jobs rise with their age: no index holds what changes by itself.
-- qgen:queue aged
-- qgen:order "urgency + extract(epoch from now() - made) / 60" desc
CREATE TABLE aged (
    id      bigserial PRIMARY KEY,
    state   text NOT NULL, -- qgen:status ready=N running=A done=D
    urgency int NOT NULL,
    made    timestamptz NOT NULL
);

-- An expression over the row alone.
-- qgen:queue sums
-- qgen:order "urgency + extra"
CREATE TABLE sums (
    id      bigserial PRIMARY KEY,
    state   text NOT NULL, -- qgen:status ready=N running=A done=D
    urgency int NOT NULL,
    extra   int NOT NULL
);

-- The most urgent first, and of those the oldest.
-- qgen:queue urgent
CREATE TABLE urgent (
    id      bigserial PRIMARY KEY,
    state   text NOT NULL, -- qgen:status ready=N running=A done=D
    urgency int NOT NULL -- qgen:priority desc
);

-- SQL tells which rows are ready, and no index leaves the others out.
-- qgen:queue flagged
CREATE TABLE flagged (
    id      bigserial PRIMARY KEY,
    flags   int NOT NULL, -- qgen:status ready~"flags % 8 = 0" ready:="flags - flags % 8" running:="flags + 1" running~"flags % 8 = 1" done:="flags + 2" done~"flags % 8 = 3"
    due     timestamptz NOT NULL -- qgen:due
);

-- SQL tells which claims have run out.
-- qgen:queue watched
CREATE TABLE watched (
    id      bigserial PRIMARY KEY,
    state   text NOT NULL, -- qgen:status ready=N running=A done=D
    seen    timestamptz
);

-- An index of an expression serves as one of columns does.
-- qgen:queue classes
-- qgen:order "CASE WHEN code = 0 THEN 0 ELSE 5 END" asc "md5(path || version)" asc
CREATE TABLE classes (
    id      bigserial PRIMARY KEY,
    code    int NOT NULL, -- qgen:status ready~"code = 0 OR code >= 500" ready:=0 running:=1 running~"code = 1" done~"code > 1 AND code < 500" done:=200
    path    text NOT NULL,
    version text NOT NULL
);
CREATE INDEX classes_order ON classes ((CASE WHEN (code = 0) THEN 0 ELSE 5 END), md5((path || version)), id);

-- SQL over columns of the row tells ready rows from others in an index as well.
-- qgen:queue codes
-- qgen:order "CASE WHEN code = 0 THEN 0 ELSE 5 END" asc
CREATE TABLE codes (
    id      bigserial PRIMARY KEY,
    code    int NOT NULL -- qgen:status ready~"code = 0 OR code >= 500" ready:=0 running:=1 running~"code = 1" done~"code > 1 AND code < 500" done:=200
);
-- qgen:queue coded
-- qgen:order "CASE WHEN code = 0 THEN 0 ELSE 5 END" asc
CREATE TABLE coded (
    id      bigserial PRIMARY KEY,
    code    int NOT NULL -- qgen:status ready~"code = 0 OR code >= 500" ready:=0 running:=1 running~"code = 1" done~"code > 1 AND code < 500" done:=200
);
CREATE INDEX coded_ready ON coded ((CASE WHEN code = 0 THEN 0 ELSE 5 END), id) WHERE ((code = 0) OR (code >= 500));

-- What is reckoned with the time zone of the session stands in no index. The time leads to the ready rows.
-- qgen:queue frames done=delete
-- qgen:order "made + interval '0 s'"
CREATE TABLE frames (
    id      bigserial PRIMARY KEY,
    made    timestamptz NOT NULL,
    run_at  timestamptz NOT NULL -- qgen:visible length=2s
);
CREATE INDEX frames_run_at ON frames (run_at);
-- qgen:queue shots done=delete
-- qgen:order "coalesce(late, made)"
CREATE TABLE shots (
    id      bigserial PRIMARY KEY,
    made    timestamptz NOT NULL,
    late    timestamptz,
    run_at  timestamptz NOT NULL -- qgen:visible length=2s
);
