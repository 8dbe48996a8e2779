-- qgen:queue
CREATE TABLE jobs (
  id bigint PRIMARY KEY,
  a  int NOT NULL, -- qgen:group limit=1
  s  text NOT NULL -- qgen:status ready=N done=D
);
