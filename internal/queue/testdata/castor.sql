-- qgen:queue subrequests
CREATE TABLE subrequest (
  retrycounter numeric,               -- qgen:attempts up on=retry
  subreqid varchar(2048),             -- qgen:on claim set "coalesce(subreqid, gen_random_uuid()::text)"
  creationtime integer,               -- qgen:enqueued as=epoch; order
  lastmodificationtime integer,       -- qgen:on claim,retry,done,fail set now as=epoch
  id numeric NOT NULL,
  status integer,                     -- qgen:status ready=1|0|2 running=3 done=8 failed=7
  svchandler varchar(2048) NOT NULL,  -- qgen:topic
  errormessage varchar(2048)          -- qgen:error
);
ALTER TABLE subrequest ADD CONSTRAINT pk_subrequest PRIMARY KEY (id);
