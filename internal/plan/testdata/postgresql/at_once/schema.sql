-- What a step adds to other tables is a part of its statement where nothing in it reads a table.
CREATE TABLE history (
    id      bigserial PRIMARY KEY,
    job_id  bigint NOT NULL,
    tries   int,
    who     text,
    size    int,
    note    text,
    ended   timestamptz
);
CREATE FUNCTION remark(text) RETURNS text LANGUAGE sql AS $$ SELECT $1 $$;
CREATE TABLE watched (job_id bigint NOT NULL);
CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER looks BEFORE INSERT ON watched FOR EACH ROW EXECUTE PROCEDURE look();
-- qgen:queue jobs
CREATE TABLE jobs (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done failed=failed
    owner text, -- qgen:worker
    tries int NOT NULL DEFAULT 0, -- qgen:attempts up on=retry max=3
    taken timestamptz, -- qgen:claimed timeout=5m
    body  text -- qgen:payload
);
