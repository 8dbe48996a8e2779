-- A link is followed once, whoever asks for it.

-- qgen:queue links enqueue=absent
CREATE TABLE links (
    id    bigserial PRIMARY KEY,
    url   text NOT NULL UNIQUE CHECK (url <> ''),
    state text NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=read
);
