-- Rows that say in intervals how long they may take, and how long they wait.

-- qgen:queue leased
CREATE TABLE leased (
    id      bigserial PRIMARY KEY,
    state   text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    ran_at  timestamptz,                 -- qgen:due add=pause
    pause   interval NOT NULL,           -- qgen:ignore
    till    timestamptz,                 -- qgen:lease length=budget
    budget  interval NOT NULL            -- qgen:payload
);

-- qgen:queue claimed cycle=every
CREATE TABLE claimed (
    id      bigserial PRIMARY KEY,
    state   text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy
    run_at  timestamp NOT NULL,          -- qgen:due clock=utc
    every   interval NOT NULL,           -- qgen:payload
    since   bigint,                      -- qgen:claimed as=epoch timeout=budget
    budget  interval NOT NULL            -- qgen:payload
);
