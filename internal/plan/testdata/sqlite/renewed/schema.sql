-- What fences a claim is the lease itself, which Work moves when it renews the claim.
-- qgen:queue letters
CREATE TABLE letters (
    id    INTEGER PRIMARY KEY,
    state TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=sent done=over failed=dead
    till  TEXT,                        -- qgen:lease length=5m as=text:2006-01-02T15:04:05.000Z
    mark  TEXT,                        -- qgen:result
    body  TEXT NOT NULL
);
