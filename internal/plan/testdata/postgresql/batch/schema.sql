-- A claim is a row of its own, and what it took holds the id of that.
CREATE TABLE actions (
    id        bigserial PRIMARY KEY,
    hook      text NOT NULL,
    state     char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=D failed=E
    priority  smallint NOT NULL DEFAULT 10, -- qgen:priority asc
    claimed   timestamptz,                  -- qgen:claimed timeout=5m
    claim_id  bigint NOT NULL DEFAULT 0     -- qgen:token free=0 from=companion
);
CREATE TABLE claims (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    holder    varchar(60) NOT NULL,
    kind      text NOT NULL,
    made_at   timestamptz NOT NULL
);
CREATE TABLE claimed (
    id        bigserial PRIMARY KEY,
    claim_id  bigint NOT NULL REFERENCES claims,
    action_id bigint NOT NULL REFERENCES actions
);

-- The key of a run is made by a default.
CREATE TABLE steps (
    shop      int,
    number    int,
    state     text NOT NULL, -- qgen:status ready=new running=busy done=sent
    run       uuid,          -- qgen:token from=companion
    PRIMARY KEY (shop, number)
);
CREATE TABLE runs (
    run       uuid PRIMARY KEY DEFAULT md5(random()::text)::uuid,
    began     timestamptz NOT NULL
);
