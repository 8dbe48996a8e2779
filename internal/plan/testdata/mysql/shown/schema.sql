-- A framework writes times in UTC whatever the time zone of the session is, also where the type has one.
-- qgen:queue notes
CREATE TABLE notes (
    id            bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    state         tinyint NOT NULL DEFAULT 0,                          -- qgen:status ready=0 running=1 done=2
    deliver_after timestamp NULL,                                      -- qgen:due clock=utc
    lease         timestamp NULL,                                      -- qgen:lease length=5m
    made          timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),  -- qgen:order 2
    ended         timestamp NULL                                       -- qgen:finished
);
