-- qgen:queue mail done=keep strategy=hold fence=none
CREATE TABLE jobs (id bigint PRIMARY KEY, s text);
