CREATE TABLE plain (
    n   int NOT NULL,
    st  varchar(8) NOT NULL, -- qgen:status ready=a running=b done=c
    tok char(36)             -- qgen:token
);
CREATE TABLE inbox (
    id bigint NOT NULL PRIMARY KEY,
    weight int NOT NULL,
    body text NOT NULL       -- qgen:payload
);
CREATE TABLE twins (
    id      bigint NOT NULL PRIMARY KEY,
    st      varchar(8) NOT NULL, -- qgen:status ready=a running=b done=c
    tok     char(36),            -- qgen:token
    before_ varchar(8),          -- qgen:on claim set "st"
    note    text                 -- qgen:payload
);
CREATE TABLE knot (
    id   bigint NOT NULL PRIMARY KEY,
    st   varchar(8) NOT NULL, -- qgen:status ready=a running=b done=c
    a    int,                 -- qgen:on done set "b"
    b    int,                 -- qgen:on done set "a"
    note text                 -- qgen:payload
);
CREATE TABLE isam (
    id bigint NOT NULL PRIMARY KEY,
    st varchar(8) NOT NULL -- qgen:status ready=a done=c
) ENGINE=MyISAM;
CREATE TABLE isams (
    id bigint NOT NULL PRIMARY KEY,
    st varchar(8) NOT NULL -- qgen:status ready=a running=b done=c
) ENGINE=MyISAM;

-- Rows may appear below others.
CREATE TABLE log_rows (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY -- qgen:seq
);
CREATE TABLE inbox_claims (inbox_id bigint NOT NULL PRIMARY KEY, holder int, since int NOT NULL) ENGINE=MyISAM;
CREATE TABLE isamg (
    id bigint NOT NULL PRIMARY KEY,
    st varchar(8) NOT NULL, -- qgen:status ready=a running=b done=c
    kind int NOT NULL -- qgen:group limit=1
) ENGINE=MyISAM;
CREATE TABLE kinds (id int NOT NULL PRIMARY KEY);
CREATE TABLE isam_running (id bigint NOT NULL PRIMARY KEY, st varchar(8) NOT NULL) ENGINE=MyISAM;
CREATE TABLE waiting (id bigint NOT NULL PRIMARY KEY, st varchar(8) NOT NULL);
CREATE TABLE waiting_isam (id bigint NOT NULL PRIMARY KEY, st varchar(8) NOT NULL) ENGINE=MyISAM;
CREATE TABLE inbox_desks (inbox_id bigint NOT NULL PRIMARY KEY, desk int, since int NOT NULL, UNIQUE (desk));
CREATE TABLE handled (
    id bigint NOT NULL PRIMARY KEY,
    st varchar(8) NOT NULL, -- qgen:status ready=a running=b done=c
    handle char(32) UNIQUE  -- qgen:token
);
CREATE TABLE inbox_handles (inbox_id bigint NOT NULL PRIMARY KEY, handle char(32), until_ int NOT NULL, UNIQUE KEY handles (handle));

-- what an expression leaves in the row at each claim
CREATE TABLE drawn (
    id     bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    holder varchar(20) NOT NULL DEFAULT '', -- qgen:worker free=''; on claim set "left(sha2(uuid(), 256), 20)"
    done   int NOT NULL DEFAULT 0           -- qgen:status ready=0 running=0 done=1
) ENGINE=InnoDB;

-- a time that travels as a number
CREATE TABLE noted (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    st      varchar(8) NOT NULL, -- qgen:status ready=a running=b done=c
    note_at timestamp NULL
) ENGINE=InnoDB;
