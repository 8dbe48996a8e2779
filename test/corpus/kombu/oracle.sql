-- Celery's transport over a database, as SQLAlchemy writes its tables: a message is taken by hiding it.
CREATE TABLE kombu_queue (
    id INTEGER NOT NULL,
    name VARCHAR(200),
    PRIMARY KEY (id),
    UNIQUE (name)
);

-- qgen:queue messages strategy=pop
CREATE TABLE kombu_message (
    id INTEGER NOT NULL,
    visible SMALLINT,                  -- qgen:status ready=1 done=0
    "timestamp" DATE,            -- qgen:enqueued clock=utc; order 1
    payload CLOB NOT NULL,       -- qgen:payload
    version SMALLINT NOT NULL,    -- qgen:version
    queue_id INTEGER,             -- qgen:topic
    PRIMARY KEY (id),
    CONSTRAINT FK_kombu_message_queue FOREIGN KEY(queue_id) REFERENCES kombu_queue (id)
);

CREATE INDEX ix_kombu_message_timestamp_id ON kombu_message ("timestamp", id);
CREATE INDEX ix_kombu_message_visible ON kombu_message (visible);
