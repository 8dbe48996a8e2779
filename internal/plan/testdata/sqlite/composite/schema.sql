CREATE TABLE moves (
    tenant  TEXT NOT NULL,
    move_no INTEGER NOT NULL,
    state   TEXT NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=ok
    holder  TEXT,                        -- qgen:token
    outcome TEXT,                        -- qgen:result
    PRIMARY KEY (tenant, move_no)
) WITHOUT ROWID;
