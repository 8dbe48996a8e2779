-- Who has a row from the beginning, the caller of Enqueue says as well: no claim takes that.
-- qgen:queue handed done=delete
CREATE TABLE handed (
  id     bigint PRIMARY KEY,
  worker text -- qgen:worker; on enqueue set arg:worker
);
