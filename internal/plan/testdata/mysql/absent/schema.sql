-- A URL is fetched once, whatever has become of it.
-- qgen:queue urls enqueue=absent
CREATE TABLE urls (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    url    varchar(100) NOT NULL UNIQUE,
    status varchar(20) DEFAULT 'todo' NOT NULL -- qgen:status ready=todo running=in_progress done=done
);

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

-- An engine without transactions: a statement that fails halfway has added some rows.
-- qgen:queue lines enqueue=absent
CREATE TABLE lines_ (
    id    bigint AUTO_INCREMENT PRIMARY KEY,
    line  varchar(100) NOT NULL UNIQUE,
    state varchar(20) DEFAULT 'new' NOT NULL, -- qgen:status ready=new running=busy done=read
    fence varchar(40) -- qgen:token
) ENGINE=MyISAM;

-- Rows are only added.
-- qgen:queue visits enqueue=absent
CREATE TABLE visits (
    id   bigint AUTO_INCREMENT PRIMARY KEY, -- qgen:seq settle=0s
    mark varchar(40) NOT NULL UNIQUE
);

-- A job that is held keeps its like out by a unique key at once.
-- qgen:queue changes enqueue=absent strategy=hold done=delete
CREATE TABLE changes (
    id   bigint AUTO_INCREMENT PRIMARY KEY,
    item bigint NOT NULL,
    kind int NOT NULL,
    UNIQUE (item, kind)
);

-- By the primary key, which its lock holds, it keeps it waiting.
-- qgen:queue subjects enqueue=absent strategy=hold done=delete
CREATE TABLE subjects (
    item bigint NOT NULL, -- qgen:payload
    kind int NOT NULL,    -- qgen:payload
    at   bigint NOT NULL, -- qgen:order
    PRIMARY KEY (item, kind),
    KEY subjects_at (at)
);
