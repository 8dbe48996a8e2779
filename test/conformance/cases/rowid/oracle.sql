-- No key at all: the row's physical place names it, as long as the lock on it is the claim.
-- qgen:queue id=row done=delete failed=delete
CREATE TABLE jobs (
    n NUMBER(18) NOT NULL                               -- qgen:payload; order
);
