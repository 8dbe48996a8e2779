-- What is done and what failed goes each at an age of its own; an index finds them.
-- qgen:queue orders purge=apart
CREATE TABLE orders (
    id    integer PRIMARY KEY AUTOINCREMENT,
    state text DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    made  integer NOT NULL -- qgen:enqueued as=epoch
);
CREATE INDEX orders_made ON orders (state, made);
CREATE TABLE parts (
    "order" bigint NOT NULL,
    body    text
);

-- Failed rows stay; an index finds rows by their state alone.
-- qgen:queue chores purge=done
CREATE TABLE chores (
    id     integer PRIMARY KEY AUTOINCREMENT,
    state  text DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    made   integer NOT NULL, -- qgen:enqueued as=epoch
    beyond integer -- qgen:expires as=epoch
);
CREATE INDEX chores_state ON chores (state);

-- What is done stays, and what nobody took in time.
-- qgen:queue errands purge=failed
CREATE TABLE errands (
    id     integer PRIMARY KEY AUTOINCREMENT,
    state  text DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=D failed=E
    made   integer NOT NULL, -- qgen:enqueued as=epoch
    beyond integer -- qgen:expires as=epoch
);

-- Rows whose claims are in a table beside, which knows the failed ones.
-- qgen:queue letters purge=apart
CREATE TABLE letters (
    id    integer PRIMARY KEY AUTOINCREMENT,
    made  integer NOT NULL, -- qgen:enqueued as=epoch
    ended integer -- qgen:finished as=epoch
);

-- Failed rows of a cycle stay, also where those go that nobody took in time.
-- qgen:queue pulses cycle=15m
CREATE TABLE pulses (
    id     integer PRIMARY KEY AUTOINCREMENT,
    state  text DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A failed=E
    due    integer NOT NULL, -- qgen:due as=epoch
    beyond integer -- qgen:expires as=epoch
);
