-- A stage that looks by row locks at what somebody has in the queue beside it adds no such rows.
CREATE TABLE background_job (
	id INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
	job BLOB NOT NULL,
	status ENUM('ready', 'processing') NOT NULL DEFAULT 'ready',
	time INT NOT NULL,
	KEY (status, time)
);
-- When a job is due and when it was claimed stand in one column: a new job still says when it is due.
CREATE TABLE revived (
	id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
	at DATETIME NOT NULL DEFAULT '2000-01-01 00:00:00', -- qgen:due; claimed timeout=180s expired=recover; on retry,release set now
	status TINYINT NOT NULL DEFAULT 1 -- qgen:status ready=1 running=0
);
