-- qgen:queue jobs; where "weight < {arg:most int}"
CREATE TABLE jobs (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL,             -- qgen:status ready=new running=busy done=sent failed=bad
    weight int NOT NULL DEFAULT 0,    -- qgen:on claim set "weight + {arg:most int64}"
    tries  int NOT NULL DEFAULT 0,    -- qgen:on retry set "tries + {arg:n}"
    code   int,                       -- qgen:on done set arg:code
    other  int,                       -- qgen:on fail set "{arg:code int}"
    more   int,                       -- qgen:on done set "{arg:step int} + {arg:step int64}"
    run_at timestamptz,               -- qgen:on retry set "{now} + {arg:wait time.Duration}"
    at_a   timestamptz,               -- qgen:on retry set now+arg:code
    at_b   timestamptz,               -- qgen:on retry set now+soon
    at_c   timestamptz,               -- qgen:on retry set now+0s
    at_d   timestamptz,               -- qgen:on retry set now+arg:9
    at_e   text,                      -- qgen:on retry set now+5m
    at_f   timestamptz                -- qgen:on retry set "{arg:x float32x}"
);
-- qgen:queue states
CREATE TABLE states (
    id     bigserial PRIMARY KEY,
    state  text NOT NULL,             -- qgen:status ready=new running=busy done:="{arg:last string}"
    till   timestamptz                -- qgen:lease length="{arg:seconds int}"; status ready=null running:=now+arg:length
);
-- qgen:queue urls enqueue=update
CREATE TABLE urls (
    id     bigserial PRIMARY KEY,
    url    text NOT NULL UNIQUE,
    state  text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    weight int,                       -- qgen:on update set "weight + {arg:n int}"
    at     timestamptz                -- qgen:on update set now+arg:delay
);
