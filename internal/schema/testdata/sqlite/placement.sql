-- qgen:queue a
CREATE TABLE [a] ( -- qgen:a too
  -- qgen:first
  [id] INTEGER PRIMARY KEY, -- qgen:id
  'n' TEXT, -- qgen:n
  -- qgen:loose 1
  UNIQUE (n) -- qgen:loose 2
) -- qgen:behind
WITHOUT ROWID; -- qgen:end
CREATE TABLE b (x, y); /* qgen:queue b */
-- qgen:worker
ALTER TABLE b ADD COLUMN worker TEXT DEFAULT '-- qgen:string'; -- qgen:worker too
ALTER TABLE b ADD later TEXT -- qgen:later
;
/* qgen:unfinished
