-- What keeps a job from being claimed is a part of its state here, so that Redrive writes it as well: explain tells.
-- qgen:queue mails clock=utc
CREATE TABLE mails (
    id      bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state   tinyint NOT NULL DEFAULT 0, -- qgen:status ready=0 running=1 done=2 failed=3
    blocked tinyint NOT NULL DEFAULT 0  -- qgen:status ready=0
) ENGINE=InnoDB;
