-- qgen:queue lone
CREATE TABLE lone (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N claimed=R done=D
);
-- qgen:queue held strategy=hold
CREATE TABLE held (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N claimed=A running=R done=D
);
-- qgen:queue popped strategy=pop
CREATE TABLE popped (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N claimed=A running=R
);
-- qgen:queue beside strategy=lease_table done=delete
CREATE TABLE beside (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N claimed=A running=R
);
-- qgen:queue logged strategy=offset
CREATE TABLE logged (id bigserial PRIMARY KEY,
  s text -- qgen:status ready=N claimed=A running=R
);
-- qgen:queue taken
CREATE TABLE taken (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N claimed=N running=R done=D
);
-- qgen:queue alike
CREATE TABLE alike (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N claimed=A|R running=R done=D
);
-- qgen:queue over
CREATE TABLE over (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N claimed=D running=R done=D
);
-- qgen:queue keyed
CREATE TABLE keyed (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N claimed=A running=token done=D
);
-- qgen:queue stamped
CREATE TABLE stamped (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N claimed=token running=R done=D
);
-- qgen:queue moment
CREATE TABLE moment (id bigint PRIMARY KEY,
  s int NOT NULL, -- qgen:status ready=0 claimed=1 running=1 done=2
  t timestamptz -- qgen:status ready=null claimed=now running=null done=null
);
-- qgen:queue named
CREATE TABLE named (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N claimed=A running=worker done=D
);
-- qgen:queue twice
CREATE TABLE twice (id bigint PRIMARY KEY,
  s text,       -- qgen:status ready=N claimed=A running=R done=D
  t timestamptz -- qgen:status ready=null claimed=null running=now
);
-- qgen:queue silent
CREATE TABLE silent (id bigint PRIMARY KEY,
  s text,       -- qgen:status ready=N claimed=A running=A done=D
  t timestamptz -- qgen:status ready=null running=now
);
-- qgen:queue mute
CREATE TABLE mute (id bigint PRIMARY KEY,
  s text,       -- qgen:status ready=N claimed=A running=A done=D
  t timestamptz -- qgen:status ready=null claimed=now
);
-- qgen:queue tested
CREATE TABLE tested (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N claimed~A running=R done=D
);
-- qgen:queue begun
CREATE TABLE begun (id bigint PRIMARY KEY,
  s text -- qgen:status ready=N claimed=A running~R done=D
);
-- qgen:queue again
CREATE TABLE again (id bigint PRIMARY KEY,
  s int NOT NULL, -- qgen:status ready=0 claimed=1 running=1 done=2
  t timestamptz,  -- qgen:status ready=null claimed~null running=now
  l timestamptz   -- qgen:lease length=5m expired=claim
);

-- The time of the start tells done rows, and a job may end before it has begun.
-- qgen:queue early
CREATE TABLE early (
    id          bigserial PRIMARY KEY,
    claimed_at  timestamptz, -- qgen:status ready=null claimed=now running~set done~set failed~set
    started_at  timestamptz, -- qgen:status ready=null claimed=null running=now done~set failed~set
    finished_at timestamptz, -- qgen:status ready=null claimed=null running=null done=now failed=null
    failed_at   timestamptz  -- qgen:status ready=null claimed=null running=null done=null failed=now
);
