-- A stage writes the few rows of one owner that are of a kind. The index of the foreign key leads to them, and one of
-- its columns does; no other is worth its while. The advice of the last stage takes its place, and no statement may
-- name it.
CREATE TABLE leases (id VARCHAR(36) NOT NULL PRIMARY KEY) ENGINE=InnoDB;
CREATE TABLE events (
  id         VARCHAR(36) NOT NULL,
  lease_id   VARCHAR(36),
  event_type VARCHAR(66),
  at         DATETIME, -- qgen:on done set arg:time
  status     VARCHAR(13), -- qgen:status ready=UNDONE|DONE done:=UNDONE
  PRIMARY KEY (id),
  FOREIGN KEY (lease_id) REFERENCES leases (id)
) ENGINE=InnoDB;
