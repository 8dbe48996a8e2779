-- qgen:queue heard enqueue=absent
CREATE TABLE heard (
    id    bigint IDENTITY PRIMARY KEY,
    url   varchar(100) NOT NULL UNIQUE,
    state varchar(20) DEFAULT 'new' NOT NULL -- qgen:status ready=new running=busy done=done
);
GO
CREATE TRIGGER heard_noted ON heard AFTER INSERT AS INSERT INTO notes (url) SELECT url FROM inserted;
GO
