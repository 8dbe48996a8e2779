CREATE TABLE jobs (
    id     int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    rec    int NOT NULL,
    status int NOT NULL DEFAULT 1
);
CREATE TABLE files (
    id     int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    rec    int NOT NULL,
    status int NOT NULL DEFAULT 1
) ENGINE=MyISAM;
CREATE TABLE steps (
    id   int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    file int NOT NULL,
    next int NOT NULL DEFAULT 0
);
