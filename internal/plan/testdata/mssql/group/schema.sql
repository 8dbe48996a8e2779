-- At most two hooks of one tenant run at once; a hook of nobody is held back by none.
-- qgen:queue hooks
CREATE TABLE hooks (
    id        bigint IDENTITY PRIMARY KEY,
    tenant    nvarchar(40), -- qgen:group limit=2 free=null|'*'
    kind      nvarchar(40) NOT NULL, -- qgen:topic
    state     nvarchar(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=dead
    until_at  datetimeoffset NULL, -- qgen:lease length=5m
    weight    int DEFAULT 0 NOT NULL -- qgen:priority desc
);

-- The steps of one order are done one after the other.
-- qgen:queue steps
CREATE TABLE steps (
    id        bigint IDENTITY PRIMARY KEY,
    order_id  int NOT NULL, -- qgen:group fifo
    state     nvarchar(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    due_at    datetimeoffset NULL, -- qgen:due; order 1
    tries     int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=5
    taken_at  datetimeoffset NULL -- qgen:claimed timeout=10m
);

-- Jobs that are exclusive run alone in their case; the others as they come.
-- qgen:queue cases done=delete
CREATE TABLE cases (
    id        bigint IDENTITY PRIMARY KEY,
    case_id   int NOT NULL,
    alone     int NOT NULL,
    until_at  datetimeoffset NULL, -- qgen:lease length=5m expired=claim
    owner_name nvarchar(40) NULL, -- qgen:worker
    rev       int DEFAULT 0 NOT NULL -- qgen:version
);

-- One build of a repository at a time, in the order of their kinds and of what they have left.
-- qgen:queue builds
-- qgen:order "CASE kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END", "weight - used" desc nulls=last
CREATE TABLE builds (
    id        bigint IDENTITY PRIMARY KEY,
    repo      nvarchar(40) NOT NULL, -- qgen:group limit=1
    kind      int NOT NULL,
    weight    int NOT NULL,
    used      int,
    state     nvarchar(40) NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=over failed=dead
);

-- A claim is for one repository, of which one pull runs at a time.
-- qgen:queue pulls
CREATE TABLE pulls (
    id        bigint IDENTITY PRIMARY KEY,
    repo      nvarchar(40) NOT NULL, -- qgen:topic; group limit=1
    weight    int NOT NULL, -- qgen:priority desc
    state     nvarchar(40) DEFAULT 'new' NOT NULL -- qgen:status ready=new running=busy done=over failed=dead
);
