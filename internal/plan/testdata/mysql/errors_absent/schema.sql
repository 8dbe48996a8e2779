-- qgen:queue heard enqueue=absent
CREATE TABLE heard (
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    url   varchar(100) NOT NULL UNIQUE,
    state varchar(20) DEFAULT 'new' NOT NULL -- qgen:status ready=new running=busy done=done
);
CREATE TRIGGER heard_noted AFTER INSERT ON heard FOR EACH ROW INSERT INTO notes (url) VALUES (NEW.url);
CREATE TABLE notes (url varchar(100) PRIMARY KEY);
