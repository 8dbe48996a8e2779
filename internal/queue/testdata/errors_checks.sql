-- Every job that ends breaks a CHECK.
-- qgen:queue jobs
CREATE TABLE jobs (
    id       bigserial PRIMARY KEY,
    state    text NOT NULL,   -- qgen:status ready=new running=busy done=done failed=failed
    ended_at timestamptz,
    host     text,
    code     int,
    UNIQUE (host),
    CHECK ((state IN ('done', 'failed')) = (ended_at IS NOT NULL)),
    CHECK (state <> 'busy' OR host IS NOT NULL),
    CHECK (state <> 'new' OR code IS NULL)
);
-- What would mend it the step writes already.
-- qgen:queue mails
CREATE TABLE mails (
    id       bigserial PRIMARY KEY,
    state    text NOT NULL,   -- qgen:status ready=new running=busy done=done
    ended_at timestamptz,     -- qgen:on done set null
    CHECK ((state = 'done') = (ended_at IS NOT NULL))
);
-- A trigger may write what nobody says.
-- qgen:queue kept
CREATE TABLE kept (
    id       bigserial PRIMARY KEY,
    state    text NOT NULL,   -- qgen:status ready=new running=busy done=done
    ended_at timestamptz,
    CHECK ((state = 'done') = (ended_at IS NOT NULL))
);
CREATE TRIGGER ended BEFORE UPDATE ON kept FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
