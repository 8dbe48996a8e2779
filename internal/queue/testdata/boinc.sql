-- qgen:queue transition strategy=partition done=delete; where(transition) "transitioner_flags <> 1"
-- qgen:queue assimilate strategy=partition
CREATE TABLE workunit (
  id                 integer NOT NULL,   -- qgen:id; shard mod
  appid              integer NOT NULL,   -- qgen:topic(assimilate)
  transition_time    integer NOT NULL,   -- qgen:due(transition) as=epoch never=2147483647; order(transition)
  assimilate_state   integer NOT NULL,   -- qgen:status(assimilate) ready=1 done=2
  transitioner_flags smallint NOT NULL
);
ALTER TABLE workunit ADD PRIMARY KEY (id);
