CREATE TABLE later (id bigint PRIMARY KEY);
