-- qgen:queue done=delete
CREATE TABLE errors_named (
  id    bigint PRIMARY KEY,
  state text NOT NULL, -- qgen:status ready=N running=A
  note  text -- qgen:on done,refused set null
);
