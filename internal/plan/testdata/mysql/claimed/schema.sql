-- A claim leaves a count in the row that Start changes, too.
-- qgen:queue tasks
CREATE TABLE tasks (
    id         bigint AUTO_INCREMENT PRIMARY KEY,
    state      varchar(10) DEFAULT 'pending' NOT NULL, -- qgen:status ready=pending claimed=waiting running=running done=successful failed=failed
    till       datetime(6), -- qgen:lease length=5m
    tries      int DEFAULT 0 NOT NULL, -- qgen:attempts up on=claim max=3
    version    int DEFAULT 0 NOT NULL, -- qgen:version
    claimed_at datetime(6), -- qgen:on claim set now
    started_at datetime(6), -- qgen:on start set now
    why        varchar(40) -- qgen:error
);

-- A null tells a claimed job from one that has begun.
-- qgen:queue begun
CREATE TABLE begun (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    state  int DEFAULT 0 NOT NULL, -- qgen:status ready=0 claimed=1 running=1 done=2
    start  datetime(6), -- qgen:status ready=null claimed=null running=now
    since  datetime(6), -- qgen:claimed timeout=5m
    holder varchar(40) -- qgen:worker
);

-- A step that writes another table, and a token that Start leaves as it is.
-- qgen:queue runs
CREATE TABLE runs (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    state  varchar(10) DEFAULT 'new' NOT NULL, -- qgen:status ready=new claimed=assigned running=running|aborting done=over failed=failed
    token  char(36), -- qgen:token
    beat   datetime(6) -- qgen:heartbeat timeout=5m; on start set now
);

-- Whoever begins a job says where.
-- qgen:queue placed
CREATE TABLE placed (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    state  varchar(10) DEFAULT 'N' NOT NULL, -- qgen:status ready=N claimed=A running=R done=D
    holder varchar(40), -- qgen:worker
    place  varchar(40), -- qgen:on start set arg:place
    begun  int DEFAULT 0 NOT NULL -- qgen:payload; on start set +1
);

CREATE TABLE starts (
    run_id bigint NOT NULL,
    at     datetime(6) NOT NULL
);
