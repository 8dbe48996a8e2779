-- No id, no order, no status: equal rows are different jobs. What is done is deleted.
-- qgen:queue id=row done=delete failed=keep
CREATE TABLE requests (
    url text NOT NULL
);
