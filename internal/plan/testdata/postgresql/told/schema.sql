-- What a table tells by itself is taken as it is meant.

-- A column is one also where it is said as an expression, and comes once into the order.
-- qgen:queue sorted
-- qgen:order "priority" desc "id"
CREATE TABLE sorted (
    id       bigint PRIMARY KEY,
    state    text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=over
    priority int NOT NULL DEFAULT 0
);

-- The answer takes the place of the question.
-- qgen:queue asked
CREATE TABLE asked (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=over
    args  text                         -- qgen:payload; result
);

-- Only rows that run have a holder, so that the index of the foreign key serves Recover.
-- qgen:queue held
CREATE TABLE held (
    id     bigint PRIMARY KEY,
    state  text NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=over
    holder uuid                         -- qgen:worker free=null alive=arg; on done set null
);
CREATE INDEX held_holder ON held (holder);

-- Another program makes a new job ready.
-- qgen:queue drafts
CREATE TABLE drafts (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state text NOT NULL, -- qgen:status ready=new running=busy done=over; on enqueue set draft
    body  text
);
