-- Mails of the server's own users are an archive and stay; those of others go after some time,
-- whatever has become of them.
-- qgen:queue mails
CREATE TABLE mails (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    inserted timestamptz NOT NULL, -- qgen:enqueued
    host     text NOT NULL, -- qgen:payload
    sent     integer DEFAULT 0 NOT NULL -- qgen:status ready=0 running=2 done=1
);

-- Nothing of these goes by the package.
-- qgen:queue letters purge=none
CREATE TABLE letters (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    body     text NOT NULL, -- qgen:payload
    sent     integer DEFAULT 0 NOT NULL -- qgen:status ready=0 running=2 done=1
);

-- What belongs to an order goes with it.
-- qgen:queue orders; where "kind = 'mail'"
CREATE TABLE orders (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind     text NOT NULL, -- qgen:payload
    state    integer DEFAULT 0 NOT NULL -- qgen:status ready=0 running=2 done=1 failed=3
);
CREATE TABLE parts (
    order_id bigint NOT NULL,
    body     text
);

-- Whatever has been left for so many days goes, and who looks says for what.
-- qgen:queue visits; where "made > current_date - {arg:days int} and (lower(host) = lower({arg:host string}) or {row}.host like {arg:pattern string} or {arg:all bool})"
CREATE TABLE visits (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    made     timestamptz NOT NULL, -- qgen:enqueued
    host     text NOT NULL, -- qgen:payload
    owner    uuid, -- qgen:payload
    size     bigint NOT NULL, -- qgen:payload
    sent     integer DEFAULT 0 NOT NULL -- qgen:status ready=0 running=2 done=1
);
