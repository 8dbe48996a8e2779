-- qgen:queue urls enqueue=update
CREATE TABLE urls (
    id    bigint IDENTITY PRIMARY KEY,
    url   varchar(200) NOT NULL,
    kind  varchar(20) NOT NULL,
    state varchar(20) NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
GO
CREATE UNIQUE INDEX urls_once ON urls (url) WHERE kind = 'once';
