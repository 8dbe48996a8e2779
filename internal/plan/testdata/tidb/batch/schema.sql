-- A claim is a row of its own, and what it took holds the id of that.
CREATE TABLE actions (
    id        bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state     char(1) NOT NULL DEFAULT 'N',      -- qgen:status ready=N running=A done=D failed=E
    claim_id  bigint NOT NULL DEFAULT 0          -- qgen:token free=0 from=companion
);
CREATE TABLE claims (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, made_at datetime NOT NULL);
