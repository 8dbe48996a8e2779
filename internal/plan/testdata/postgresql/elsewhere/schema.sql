-- Another table tells which jobs are ready, and may change before a row is locked.
-- qgen:queue deliveries strategy=hold done=delete
CREATE TABLE deliveries (
    id      bigserial PRIMARY KEY,
    message bigint NOT NULL
);
CREATE TABLE messages (
    id    bigint PRIMARY KEY,
    ready boolean NOT NULL
);

-- Another table tells which jobs still run.
-- qgen:queue exports
CREATE TABLE exports (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    site  bigint NOT NULL              -- qgen:status running~"exists (select 1 from sites s where s.id = exports.site)"
);
CREATE TABLE sites (
    id bigint PRIMARY KEY
);

-- What whoever claims says may be said again.
-- qgen:queue calls
CREATE TABLE calls (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    owner text                         -- qgen:worker; on claim set arg:owner
);
