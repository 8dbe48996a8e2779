-- qgen:queue done=delete
CREATE TABLE topics (id bigint PRIMARY KEY,
  a  int,          -- qgen:topic list not
  b  int,          -- qgen:topic prefix
  c  text NOT NULL -- qgen:topic any=null|'*'
);
-- qgen:queue done=delete; shard
CREATE TABLE shards (id bigint PRIMARY KEY);
-- qgen:queue done=delete; shard hash=id
CREATE TABLE shard_words (id bigint PRIMARY KEY);
-- qgen:queue done=delete; shard hash="id"
CREATE TABLE shard_twice (id bigint PRIMARY KEY,
  a int -- qgen:shard
);
-- qgen:queue done=delete
CREATE TABLE shard_text (id bigint PRIMARY KEY,
  a text -- qgen:shard range
);
-- qgen:queue done=delete
CREATE TABLE shard_both (id bigint PRIMARY KEY,
  a int -- qgen:shard mod range
);
-- qgen:queue done=delete
CREATE TABLE orders (id bigint PRIMARY KEY,
  a int, -- qgen:priority
  b int, -- qgen:order 1
  c int, -- qgen:order 1
  d int, -- qgen:order asc desc
  e int, -- qgen:order nulls=no
  f int, -- qgen:order random
  g int, -- qgen:order 0
  h int  -- qgen:order first
);
-- qgen:queue done=delete; order
CREATE TABLE order_none (id bigint PRIMARY KEY);
-- qgen:queue done=delete; order desc id
CREATE TABLE order_words (id bigint PRIMARY KEY);
-- qgen:queue done=delete; order ix
CREATE TABLE order_column (id bigint PRIMARY KEY);
-- qgen:queue done=delete; order "(" desc
CREATE TABLE order_sql (id bigint PRIMARY KEY);
-- qgen:queue done=delete
CREATE TABLE dues (id bigint PRIMARY KEY,
  a bigint -- qgen:due as=epoch never=null always=soon
);
-- qgen:queue done=delete
CREATE TABLE dues_magic (id bigint PRIMARY KEY,
  a bigint, -- qgen:due as=epoch never=-1 always=0 add=wait
  wait int
);
-- qgen:queue done=delete
CREATE TABLE shard_one (id bigint PRIMARY KEY,
  a int -- qgen:shard range=7
);
-- qgen:queue done=delete
CREATE TABLE shard_turned (id bigint PRIMARY KEY,
  a int -- qgen:shard range=7|0
);
-- qgen:queue done=delete
CREATE TABLE shard_far (id bigint PRIMARY KEY,
  a smallint -- qgen:shard range=0|65535
);
-- qgen:queue done=delete
CREATE TABLE shard_null (id bigint PRIMARY KEY,
  a int -- qgen:shard range=null|7
);
