-- A URL is fetched once, whatever has become of it.
-- qgen:queue urls enqueue=absent
CREATE TABLE urls (
    id     bigint IDENTITY PRIMARY KEY,
    url    varchar(100) NOT NULL UNIQUE,
    status varchar(20) DEFAULT 'todo' NOT NULL -- qgen:status ready=todo running=in_progress done=done
);

-- What waits already is not asked for again; a task that runs or has ended keeps none out.
-- qgen:queue tasks enqueue=absent
CREATE TABLE tasks (
    id          uniqueidentifier DEFAULT NEWID() NOT NULL PRIMARY KEY,
    fingerprint varchar(100) NOT NULL,
    state       varchar(20) DEFAULT 'pending' NOT NULL -- qgen:status ready=pending running=running done=processed
);
CREATE UNIQUE INDEX tasks_fingerprint ON tasks (fingerprint) WHERE state = 'pending';

-- The caller gives the key; what belongs to a page is added with it, and only with it.
-- qgen:queue pages enqueue=absent
CREATE TABLE pages (
    site  int NOT NULL,
    path  varchar(40) NOT NULL,
    state varchar(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=read
    PRIMARY KEY (site, path)
);

CREATE TABLE journal (
    what varchar(40) NOT NULL,
    site int NOT NULL
);
