CREATE TABLE events (id bigserial PRIMARY KEY);
