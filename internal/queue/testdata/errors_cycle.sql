-- qgen:queue a cycle done=delete
CREATE TABLE a (id bigserial PRIMARY KEY,
  s text NOT NULL, -- qgen:status ready=N running=A done=D
  t timestamptz    -- qgen:due
);
-- qgen:queue b cycle
CREATE TABLE b (id bigserial PRIMARY KEY,
  s text NOT NULL -- qgen:status ready=N running=A
);
-- qgen:queue c cycle=1h
CREATE TABLE c (id bigserial PRIMARY KEY,
  s text NOT NULL, -- qgen:status ready=N running=A
  t timestamptz    -- qgen:due add=1h
);
-- qgen:queue d cycle=soon|later unit=s
CREATE TABLE d (id bigserial PRIMARY KEY,
  t timestamptz -- qgen:due
);
-- qgen:queue e cycle=s
CREATE TABLE e (id bigserial PRIMARY KEY,
  s text NOT NULL, -- qgen:status ready=N running=A
  t timestamptz    -- qgen:due
);
-- qgen:queue f cycle unit=s
CREATE TABLE f (id bigserial PRIMARY KEY,
  t timestamptz -- qgen:due
);
-- qgen:queue g cycle strategy=pop
CREATE TABLE g (id bigserial PRIMARY KEY,
  t timestamptz -- qgen:due
);
-- qgen:queue h cycle strategy=offset
CREATE TABLE h (id bigserial PRIMARY KEY -- qgen:seq settle=0s
);
-- qgen:queue i cycle
CREATE TABLE i (id bigserial PRIMARY KEY,
  s text NOT NULL, -- qgen:status ready=N running=A failed=E
  t timestamptz,   -- qgen:due
  n int NOT NULL,  -- qgen:attempts down
  x text           -- qgen:on done set arg:next
);
-- qgen:queue j cycle="{row}.s; 1" unit=week
CREATE TABLE j (id bigserial PRIMARY KEY,
  t timestamptz -- qgen:due
);
-- qgen:queue k cycle="{failures}"
CREATE TABLE k (id bigserial PRIMARY KEY,
  t timestamptz -- qgen:due
);
