-- A job that failed is tried again as a new row, which takes its place among the keys.
-- qgen:queue tries
CREATE TABLE tries (
    id      bigserial PRIMARY KEY,
    state   text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=failed
    attempt int NOT NULL DEFAULT 1,
    uniq    text,
    till    timestamptz -- qgen:lease length=5m expired=fail
);
CREATE UNIQUE INDEX tries_uniq ON tries (uniq) WHERE state <> 'failed';
