-- A URL waits once: what is asked for again changes the row that waits.
-- qgen:queue urls enqueue=update
CREATE TABLE urls (
    id       bigint IDENTITY PRIMARY KEY,
    url      varchar(200) NOT NULL,
    mail     nvarchar(200),
    state    varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    priority int NOT NULL DEFAULT 0,             -- qgen:priority desc; on update set "CASE WHEN priority < {new}.priority THEN {new}.priority ELSE priority END"
    asked    int NOT NULL DEFAULT 1,             -- qgen:on update set +1
    body     nvarchar(max),
    note     nvarchar(max) NOT NULL
);
GO
CREATE UNIQUE INDEX urls_waiting ON urls (url, mail) WHERE state = 'new';
GO
-- The caller gives the key; a trigger fires when a row is added.
-- qgen:queue parts enqueue=update
CREATE TABLE parts (
    site int NOT NULL,
    path varchar(40) NOT NULL,
    size int,
    state varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    CONSTRAINT parts_key PRIMARY KEY (site, path)
);
GO
CREATE TRIGGER parts_noted ON parts AFTER INSERT AS INSERT INTO journal (what) SELECT path FROM inserted;
GO
