# qgen:queue a
CREATE TABLE `a` ( -- qgen:a too
  -- qgen:first
  `id` INT PRIMARY KEY, -- qgen:id
  n VARCHAR(10) COMMENT 'qgen:n', # qgen:n too
  m VARCHAR(10) COMMENT "it's qgen:m 'x' \"y\"", -- inexact
  o VARCHAR(10) COMMENT '', p VARCHAR(10) COMMENT 'nothing of ours',
  #qgen:loose 1
  UNIQUE (n) -- qgen:loose 2
) -- qgen:behind
ENGINE = InnoDB COMMENT = 'qgen:stored'; -- qgen:end
CREATE TABLE b (x INT, y INT CHECK (y > 5--1
)); /* qgen:queue b */
# qgen:worker
ALTER TABLE b ADD COLUMN worker TEXT DEFAULT ('-- qgen:string # qgen:string'); -- qgen:worker too
ALTER TABLE b ADD later TEXT -- qgen:later
;
ALTER TABLE b MODIFY x BIGINT NOT NULL COMMENT 'qgen:x', # qgen:x too
  CHANGE COLUMN later sooner TEXT; -- qgen:sooner
ALTER TABLE b MODIFY x BIGINT COMMENT 'qgen:x again', COMMENT='qgen:queue b stored';
ALTER TABLE b MODIFY x BIGINT;
ALTER TABLE b COMMENT '';
/*! -- qgen:inside
CREATE TABLE c (id INT /*!80023 INVISIBLE */ /* qgen:id */ PRIMARY KEY) /* qgen:queue c */ */;
/*M!100616 CREATE TABLE d (id INT); -- qgen:queue of MariaDB */
/*T![clustered_index] CREATE TABLE e (id BIGINT PRIMARY KEY /*T![clustered_index] CLUSTERED */ /*T![auto_rand] AUTO_RANDOM(5) */) */;
/*!999999\- qgen:nobody */
/* qgen:unfinished
