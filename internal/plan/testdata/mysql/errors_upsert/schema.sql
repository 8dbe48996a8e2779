-- qgen:queue computed enqueue=update key=computed_waiting
CREATE TABLE computed (
    id      char(36) PRIMARY KEY,
    url     varchar(200) NOT NULL,
    body    text,
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    waiting varchar(200) GENERATED ALWAYS AS (if(state = 'new', url, null)) VIRTUAL,
    UNIQUE KEY computed_waiting (waiting)
);

-- qgen:queue begun enqueue=update key=begun_url
CREATE TABLE begun (
    id      char(36) PRIMARY KEY,
    url     text NOT NULL,
    body    text,
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    UNIQUE KEY begun_url (url(50))
);

-- qgen:queue rounded enqueue=update key=rounded_at
CREATE TABLE rounded (
    id      char(36) PRIMARY KEY,
    at      datetime NOT NULL,
    body    text,
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    UNIQUE KEY rounded_at (at)
);

-- qgen:queue lowered enqueue=update key=lowered_url
CREATE TABLE lowered (
    id      char(36) PRIMARY KEY,
    url     varchar(200) NOT NULL,
    body    text,
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    UNIQUE KEY lowered_url ((lower(url)))
);

-- qgen:queue unlocked enqueue=update key=unlocked_url
CREATE TABLE unlocked (
    id      char(36) PRIMARY KEY,
    url     varchar(200) NOT NULL,
    body    text,
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    UNIQUE KEY unlocked_url (url)
) ENGINE=MyISAM;

-- qgen:queue narrowed enqueue=update
CREATE TABLE narrowed (
    id      bigint AUTO_INCREMENT PRIMARY KEY,
    url     varchar(200) NOT NULL,
    body    text,
    state   varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    UNIQUE KEY narrowed_url ((lower(url)))
);
