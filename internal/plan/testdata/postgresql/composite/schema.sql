-- qgen:queue parts
CREATE TABLE warehouse.part_moves (
    tenant  uuid,
    move_no int,
    "Order" smallint NOT NULL DEFAULT 0, -- qgen:priority desc
    state   text NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'busy', 'ok', 'bad')), -- qgen:status ready=new running=busy done=ok failed=bad
    version int NOT NULL DEFAULT 0,      -- qgen:version
    outcome jsonb,                       -- qgen:result
    payload bytea NOT NULL,
    PRIMARY KEY (tenant, move_no)
);
