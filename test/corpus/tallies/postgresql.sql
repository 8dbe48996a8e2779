-- Letters are counted by their address in another table, by each step.

-- qgen:queue letters
CREATE TABLE letters (
    id      bigserial PRIMARY KEY,
    address text NOT NULL,
    weight  int NOT NULL,
    state   text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=sent failed=lost
    tries   int NOT NULL DEFAULT 0, -- qgen:attempts max=3
    till    timestamptz -- qgen:lease length=5m expired=recover
);

CREATE TABLE tallies (
    address text PRIMARY KEY,
    waiting int NOT NULL DEFAULT 0,
    weight  int NOT NULL DEFAULT 0,
    last_id bigint,
    seen_at timestamptz
);
