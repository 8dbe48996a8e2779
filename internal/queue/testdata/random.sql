-- qgen:queue lottery done=delete failed=delete; priority weight desc; order random
CREATE TABLE lottery (
  id     int PRIMARY KEY,
  weight int NOT NULL,
  holder text,         -- qgen:worker mine=ready
  tries  int DEFAULT 3 -- qgen:attempts down max=3 null=unlimited
);
