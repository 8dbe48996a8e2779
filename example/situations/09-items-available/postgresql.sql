-- A boolean tells which items may be taken, and a partial index finds them.
-- qgen:queue done=delete failed=delete
CREATE TABLE items (
    id        bigserial PRIMARY KEY,
    name      text NOT NULL,                  -- qgen:payload
    available boolean NOT NULL DEFAULT true   -- qgen:status ready=true running=false
);
CREATE INDEX items_available ON items (id) WHERE available;

-- A second queue in the same database.
-- qgen:queue done=delete failed=delete
CREATE TABLE parts (
    id        bigserial PRIMARY KEY,
    name      text NOT NULL,                  -- qgen:payload
    available boolean NOT NULL DEFAULT true   -- qgen:status ready=true running=false
);
CREATE INDEX parts_available ON parts (id) WHERE available;
