-- Of columns that are read as booleans is said at each queue, and of all in one note.
CREATE TABLE syncs (
    id      int NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   char(1) NOT NULL DEFAULT 'N', -- qgen:status ready=N running=A done=C failed=E
    active  tinyint(1) NOT NULL DEFAULT 1,
    dry     tinyint(1) NOT NULL DEFAULT 0,
    timeout tinyint(1) unsigned NOT NULL DEFAULT 0,
    subs    tinyint(1) NOT NULL DEFAULT 1
) ENGINE=InnoDB;
