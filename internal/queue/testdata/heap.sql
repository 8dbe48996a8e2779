-- qgen:queue heap done=delete
CREATE TABLE heap (
  body  text,
  added timestamptz -- qgen:order
);
-- qgen:queue asked done=delete strategy=hold id=row
CREATE TABLE asked (
  id   int PRIMARY KEY,
  body text
);
