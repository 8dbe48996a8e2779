-- The same in an order: the advised index takes the place of that of the foreign key, which InnoDB then drops. No
-- statement may name that.
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
