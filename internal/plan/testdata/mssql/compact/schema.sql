-- Times as they are often written there, which every session reads alike.
-- qgen:queue backups
CREATE TABLE backups (
    id     int IDENTITY PRIMARY KEY,
    begun  datetime NOT NULL DEFAULT '19000101', -- qgen:on enqueue,release set '19000101'
    till   datetime NOT NULL DEFAULT '99991231 10:00:00', -- qgen:lease length=5m free='99991231 10:00:00'
    day    date NOT NULL DEFAULT '19000101', -- qgen:on done set '20000101'
    exact  datetime2(3) NOT NULL DEFAULT '19000101', -- qgen:on done set '20000101 10:00:00.5'
    state  tinyint NOT NULL DEFAULT 0 -- qgen:status ready=0 running=1 done=2
);
-- Rows that nobody has hold the default, which a condition compares.
-- qgen:queue logs
CREATE TABLE logs (
    id     int IDENTITY PRIMARY KEY,
    begun  datetime DEFAULT '19000101', -- qgen:claimed timeout=10m
    ended   datetime DEFAULT '19000101',
    state  tinyint NOT NULL DEFAULT 0 -- qgen:status ready=0 running=1 done=2
);
