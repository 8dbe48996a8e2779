-- One deployment of a site at a time, as an index has it. The first queue is told so by
-- a group, the second is not.

-- qgen:queue deployments
CREATE TABLE deployments (
    id    bigserial PRIMARY KEY,
    site  text NOT NULL,                  -- qgen:payload; group limit=1
    state text NOT NULL DEFAULT 'waiting' -- qgen:status ready=waiting running=active done=done
);
CREATE UNIQUE INDEX deployments_active ON deployments (site) WHERE state = 'active';

-- qgen:queue builds
CREATE TABLE builds (
    id     bigserial PRIMARY KEY,
    site   text NOT NULL,
    branch text NOT NULL,
    state  text NOT NULL DEFAULT 'waiting', -- qgen:status ready=waiting running=active done=done
    holder uuid                             -- qgen:token
);
CREATE UNIQUE INDEX builds_active ON builds (site, branch) WHERE ((state)::text = 'active'::text);
CREATE UNIQUE INDEX builds_holder ON builds (holder) WHERE state = 'active'; -- a fresh value
CREATE UNIQUE INDEX builds_waiting ON builds (site) WHERE state = 'waiting'; -- not one that a claim enters
CREATE UNIQUE INDEX builds_by_id ON builds (id, site) WHERE state = 'active';
