CREATE TABLE inbox (
    id bigint NOT NULL PRIMARY KEY,
    weight int NOT NULL,     -- qgen:priority desc
    body text NOT NULL       -- qgen:payload
);
