CREATE TABLE jobs (
    id    bigint PRIMARY KEY,
    state char(1) NOT NULL, -- qgen:status ready=N running=A done=D
    mark  bigint            -- qgen:token from=companion
);
CREATE TABLE runs (id bigint PRIMARY KEY DEFAULT (uuid_short()), began datetime NOT NULL);
CREATE TABLE isam (
    id    bigint PRIMARY KEY,
    state char(1) NOT NULL, -- qgen:status ready=N running=A done=D
    mark  bigint            -- qgen:token from=companion
) ENGINE=MyISAM;
CREATE TABLE claims (id bigint AUTO_INCREMENT PRIMARY KEY, began datetime NOT NULL);
CREATE TABLE handled (
    id    bigint PRIMARY KEY,
    state char(1) NOT NULL, -- qgen:status ready=N running=A done=D
    mark  bigint UNIQUE     -- qgen:token from=companion
);
