-- A length of time that is null: nothing marks the row, or its claim never ends, or it is never due.
-- qgen:queue leased done=delete
CREATE TABLE leased (
    id   bigserial PRIMARY KEY,
    vt   int,
    till timestamptz -- qgen:lease length=vt
);
-- qgen:queue claimed done=delete
CREATE TABLE claimed (
    id    bigserial PRIMARY KEY,
    vt    int,
    since timestamptz -- qgen:claimed timeout=vt
);
-- qgen:queue waiting done=delete
CREATE TABLE waiting (
    id   bigserial PRIMARY KEY,
    wait int,
    due  timestamptz, -- qgen:due add=wait
    till timestamptz  -- qgen:lease length=5m
);
-- Such rows are no jobs.
-- qgen:queue left done=delete; where "VT  IS NOT NULL"
CREATE TABLE left_out (
    id   bigserial PRIMARY KEY,
    vt   int,
    till timestamptz -- qgen:lease length=vt
);
-- There are none.
-- qgen:queue full done=delete
CREATE TABLE full_of (
    id   bigserial PRIMARY KEY,
    vt   int NOT NULL,
    till timestamptz -- qgen:lease length=vt
);
-- What a function makes of a null is for it to say.
-- qgen:queue called done=delete
CREATE TABLE called (
    id    bigserial PRIMARY KEY,
    kind  text,
    since timestamptz -- qgen:claimed timeout="nullif(length(kind), 60)" unit=s
);
-- What a claim asks for, and what tells that a row runs, is no null while it does.
-- qgen:queue asked done=delete
CREATE TABLE asked (
    id    bigserial PRIMARY KEY,
    kind  text, -- qgen:topic
    state text, -- qgen:status ready=null running=busy
    since timestamptz -- qgen:claimed timeout="case kind when 'a' then 5 else length(state) end" unit=s
);
