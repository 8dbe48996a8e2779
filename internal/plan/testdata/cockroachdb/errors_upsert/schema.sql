-- qgen:queue urls enqueue=update
CREATE TABLE urls (
    id    uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    url   string NOT NULL,
    body  string,
    state string NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    UNIQUE INDEX urls_url (lower(url))
);
