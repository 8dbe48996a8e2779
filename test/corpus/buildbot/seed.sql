INSERT INTO masters (id, name, name_hash, active, last_active) VALUES (1, 'one', '1', 1, 0), (2, 'two', '2', 1, 0);
INSERT INTO buildsets (id, submitted_at) VALUES (1, 0);
INSERT INTO builders (id, name, name_hash) VALUES (1, 'linux', '1');
