-- Claims are rows of a table of their own, and the id of one is what its actions hold.
-- qgen:queue actions
CREATE TABLE actions (
    id       bigint PRIMARY KEY,
    state    char(1) NOT NULL,            -- qgen:status ready=N running=A done=D failed=E
    claim_id bigint NOT NULL DEFAULT 0    -- qgen:token free=0 from=companion
);
CREATE TABLE claims (
    id         bigserial PRIMARY KEY,
    holder     text NOT NULL,
    kind       text NOT NULL DEFAULT 'web',
    created_at timestamptz NOT NULL
);
CREATE TABLE claimed_actions (
    id        bigserial PRIMARY KEY,
    claim_id  bigint NOT NULL REFERENCES claims,
    action_id bigint NOT NULL REFERENCES actions
);
