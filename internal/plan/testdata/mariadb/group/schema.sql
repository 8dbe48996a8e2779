-- At most two hooks of one tenant run at once; a hook of nobody is held back by none.
-- qgen:queue hooks
CREATE TABLE hooks (
    id        BIGINT AUTO_INCREMENT PRIMARY KEY,
    tenant    VARCHAR(40), -- qgen:group limit=2 free=null|'*'
    kind      VARCHAR(40) NOT NULL, -- qgen:topic
    state     VARCHAR(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=dead
    until_at  TIMESTAMP(6) NULL, -- qgen:lease length=5m
    weight    INT DEFAULT 0 NOT NULL -- qgen:priority desc
);

-- The steps of one order are done one after the other.
-- qgen:queue steps
CREATE TABLE steps (
    id        BIGINT AUTO_INCREMENT PRIMARY KEY,
    order_id  INT NOT NULL, -- qgen:group fifo
    state     VARCHAR(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=over failed=dead
    due_at    TIMESTAMP(6) NULL, -- qgen:due; order 1
    tries     INT DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=5
    taken_at  TIMESTAMP(6) NULL -- qgen:claimed timeout=10m
);

-- Jobs that are exclusive run alone in their case; the others as they come.
-- qgen:queue cases done=delete
CREATE TABLE cases (
    id        BIGINT AUTO_INCREMENT PRIMARY KEY,
    case_id   INT NOT NULL,
    alone     INT NOT NULL,
    until_at  TIMESTAMP(6) NULL, -- qgen:lease length=5m expired=claim
    owner_name VARCHAR(40) NULL, -- qgen:worker
    rev       INT DEFAULT 0 NOT NULL -- qgen:version
);

-- One row for each tenant, order and case: claims lock it.
CREATE TABLE tenants (
    id VARCHAR(40) NOT NULL PRIMARY KEY
);

-- At most two calls of one tenant run at once.
-- qgen:queue calls
CREATE TABLE calls (
    id        BIGINT AUTO_INCREMENT,
    part      INT NOT NULL,
    tenant    VARCHAR(40), -- qgen:group limit=2 free='*'
    kind      VARCHAR(40) NOT NULL, -- qgen:topic
    state     VARCHAR(40) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=sent failed=dead
    held      BINARY(16), -- qgen:token
    weight    INT DEFAULT 0 NOT NULL, -- qgen:priority desc
    PRIMARY KEY (id, part)
);

-- One build of a repository at a time, in the order of their kinds and of what they have left.
-- qgen:queue builds
-- qgen:order "CASE kind WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END", "weight - used" desc nulls=last
CREATE TABLE builds (
    id        BIGINT AUTO_INCREMENT PRIMARY KEY,
    repo      VARCHAR(40) NOT NULL, -- qgen:group limit=1
    kind      INT NOT NULL,
    weight    INT NOT NULL,
    used      INT,
    state     VARCHAR(40) NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=over failed=dead
);

-- A claim is for one repository, of which one pull runs at a time.
-- qgen:queue pulls
CREATE TABLE pulls (
    id        BIGINT AUTO_INCREMENT PRIMARY KEY,
    repo      VARCHAR(40) NOT NULL, -- qgen:topic; group limit=1
    weight    INT NOT NULL, -- qgen:priority desc
    state     VARCHAR(40) DEFAULT 'new' NOT NULL -- qgen:status ready=new running=busy done=over failed=dead
);
