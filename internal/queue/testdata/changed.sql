-- A claim changes the rows that its caller names, and they stay as they are but for that.
CREATE TABLE changed (
    id       bigserial PRIMARY KEY,
    priority int NOT NULL DEFAULT 0
);
