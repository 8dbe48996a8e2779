-- Nothing makes the id of an event unique, and nothing orders those that its caller names: the index that leads to
-- them is read, and not that of another queue, in which rows of other ids would be passed over.
CREATE TABLE events (
    record_id      TEXT NOT NULL,
    latency        INTEGER NOT NULL,
    timestamp      INTEGER NOT NULL,
    reserved_until INTEGER DEFAULT 0
);
CREATE INDEX events_ready ON events (latency DESC, timestamp, record_id) WHERE reserved_until = 0;
CREATE INDEX events_record ON events (record_id);

-- Without such an index that of the other queue is read.
CREATE TABLE notes (
    record_id      TEXT NOT NULL,
    latency        INTEGER NOT NULL,
    timestamp      INTEGER NOT NULL,
    reserved_until INTEGER DEFAULT 0
);
CREATE INDEX notes_ready ON notes (latency DESC, timestamp, record_id) WHERE reserved_until = 0;
