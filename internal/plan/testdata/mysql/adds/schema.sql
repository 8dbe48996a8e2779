-- A stage that looks by row locks at what somebody has in the queue beside it adds no such rows.
CREATE TABLE background_job (
	id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
	job BLOB NOT NULL,
	status ENUM('ready', 'processing') NOT NULL DEFAULT 'ready',
	time INT NOT NULL,
	KEY (status, time)
);
