-- What other rows of the table say of a job.
CREATE TABLE jobs (
    id     int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    rec    int NOT NULL,
    status int NOT NULL DEFAULT 1
);
CREATE TABLE files (
    id     int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    rec    int NOT NULL,
    status int NOT NULL DEFAULT 1
);
