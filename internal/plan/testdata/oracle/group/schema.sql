-- At most two hooks of one tenant run at once; a hook of nobody is held back by none.
-- qgen:queue hooks
CREATE TABLE hooks (
    id        NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant    VARCHAR2(40), -- qgen:group limit=2 free=null|'*'
    kind      VARCHAR2(40) NOT NULL, -- qgen:topic
    state     VARCHAR2(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=dead
    until_at  TIMESTAMP(6) WITH TIME ZONE NULL, -- qgen:lease length=5m
    weight    NUMBER(9) DEFAULT 0 NOT NULL -- qgen:priority desc
);

-- The steps of one order are done one after the other.
-- qgen:queue steps
CREATE TABLE steps (
    id        NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    order_id  NUMBER(9) NOT NULL, -- qgen:group fifo
    state     VARCHAR2(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    due_at    TIMESTAMP(6) WITH TIME ZONE NULL, -- qgen:due; order 1
    tries     NUMBER(9) DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=5
    taken_at  TIMESTAMP(6) WITH TIME ZONE NULL -- qgen:claimed timeout=10m
);

-- Jobs that are exclusive run alone in their case; the others as they come.
-- qgen:queue cases done=delete
CREATE TABLE cases (
    id        NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    case_id   NUMBER(9) NOT NULL,
    alone     NUMBER(9) NOT NULL,
    until_at  TIMESTAMP(6) WITH TIME ZONE NULL, -- qgen:lease length=5m expired=claim
    owner_name VARCHAR2(40) NULL, -- qgen:worker
    rev       NUMBER(9) DEFAULT 0 NOT NULL -- qgen:version
);

-- One row for each tenant and case: claims lock it. Those for orders are in another schema.
CREATE TABLE tenants (
    id VARCHAR2(40) NOT NULL PRIMARY KEY
);

-- Names that a claim has for itself; the table of regions is another user's.
-- qgen:queue found done=delete
CREATE TABLE mail.found (
    id        NUMBER(18) PRIMARY KEY,
    "Region"  NVARCHAR2(40) NOT NULL, -- qgen:group limit=3
    no        NUMBER(18) NOT NULL, -- qgen:group
    held      DATE, -- qgen:lease length=5m expired=claim clock=utc
    found_row VARCHAR2(40), -- qgen:worker
    place     NUMBER(9) DEFAULT 0 NOT NULL, -- qgen:version
    picked    NUMBER(9), -- qgen:priority desc
    other     VARCHAR2(40) -- qgen:topic list
);

CREATE TABLE shop.regions (
    region NVARCHAR2(40) NOT NULL,
    no     NUMBER(2) NOT NULL,
    i      NUMBER(9) DEFAULT 0 NOT NULL,
    PRIMARY KEY (region, no)
);

-- One build of a repository at a time, in the order of their kinds and of what they have left.
-- qgen:queue builds
-- qgen:order "CASE kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END", "weight - used" desc nulls=last
CREATE TABLE builds (
    id        NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repo      VARCHAR2(40) NOT NULL, -- qgen:group limit=1
    kind      NUMBER(9) NOT NULL,
    weight    NUMBER(9) NOT NULL,
    used      NUMBER(9),
    state     VARCHAR2(40) DEFAULT 'new' NOT NULL -- qgen:status ready=new running=busy done=over failed=dead
);

-- A claim is for one repository, of which one pull runs at a time.
-- qgen:queue pulls
CREATE TABLE pulls (
    id        NUMBER(18) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    repo      VARCHAR2(40) NOT NULL, -- qgen:topic; group limit=1
    weight    NUMBER(9) NOT NULL, -- qgen:priority desc
    state     VARCHAR2(40) DEFAULT 'new' NOT NULL -- qgen:status ready=new running=busy done=over failed=dead
);
