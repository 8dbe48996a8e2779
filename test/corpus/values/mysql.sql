-- Of no project: columns that take no text or number at will, for the test of the package.

-- qgen:queue parcels
CREATE TABLE parcels (
    id      char(36) NOT NULL,
    size    enum('small', 'large') NOT NULL,                              -- qgen:topic
    marks   set('fragile', 'cold') NOT NULL,
    kind    varchar(10) NOT NULL CHECK (kind IN ('letter', 'box')),       -- qgen:topic not
    grade   tinyint NOT NULL,                                             -- qgen:order 1
    weight  decimal(8,2) NOT NULL,
    at      time NOT NULL,
    flags   bit(3) NOT NULL,
    made    year NOT NULL,
    about   json NOT NULL,
    state   enum('N', 'A', 'C') NOT NULL DEFAULT 'N',                     -- qgen:status ready=N running=A done=C
    due     timestamp NOT NULL DEFAULT '2037-01-01 00:00:00',             -- qgen:due
    PRIMARY KEY (id, size),
    UNIQUE KEY parcels_at (at),
    CHECK (grade > 3 AND grade < 6 AND weight >= 10)
) ENGINE=InnoDB;
