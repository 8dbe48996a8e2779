-- A count is a fence where it goes up from one claim of a row to the next.

-- Neither the claim counts nor Recover, which leads to the next claim.
-- qgen:queue still
CREATE TABLE still (
    id    bigint PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=N running=A done=D
    n     int NOT NULL,  -- qgen:version; on claim,recover,release set old
    at    timestamptz    -- qgen:heartbeat timeout=1h
);

-- Each way back counts, and a claim follows one.
-- qgen:queue returned
CREATE TABLE returned (
    id    bigint PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    n     int NOT NULL,  -- qgen:version on=ready
    at    timestamptz    -- qgen:heartbeat timeout=1h
);

-- Claims count, and nothing else.
-- qgen:queue taken
CREATE TABLE taken (
    id    bigint PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    n     int NOT NULL   -- qgen:version on=claim
);

-- A claim takes over what another holds, and nothing lies between the two.
-- qgen:queue over done=delete
CREATE TABLE over (
    id    bigint PRIMARY KEY,
    n     int NOT NULL, -- qgen:version on=ready
    till  timestamptz   -- qgen:lease length=5m
);

-- What failed comes back by Redrive, and neither counts.
-- qgen:queue redriven
CREATE TABLE redriven (
    id    bigint PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    n     int NOT NULL   -- qgen:version on=ready; on redrive set old
);

-- What fails counts, and what is redriven need not.
-- qgen:queue counted
CREATE TABLE counted (
    id    bigint PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    n     int NOT NULL   -- qgen:version; on claim,redrive set old
);

-- Recover sets back what the claim has counted.
-- qgen:queue again
CREATE TABLE again (
    id    bigint PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=N running=A done=D
    n     int NOT NULL,  -- qgen:version; on recover set 0
    at    timestamptz    -- qgen:heartbeat timeout=1h
);
