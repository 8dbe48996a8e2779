-- qgen:queue jobs
CREATE TABLE jobs (
  id bigint NOT NULL,
  state varchar(10) NOT NULL, -- qgen:status ready=new running=busy done=done
  body text
);
DO $$ BEGIN IF NOT EXISTS (SELECT 1) THEN EXECUTE 'ALTER TABLE jobs ADD PRIMARY KEY (id)'; END IF; END $$;
