-- A claim is its time alone, to the second.
CREATE TABLE background_tasks (
    id_task      int unsigned AUTO_INCREMENT PRIMARY KEY,
    task_data    mediumtext NOT NULL,
    claimed_time int unsigned NOT NULL DEFAULT 0
) ENGINE=InnoDB;
