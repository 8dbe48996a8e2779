-- Watermill's messages of one topic, whose table is named after it. Rows are only added; consumers remember how far they are.
CREATE TABLE watermill_x (
    "offset" BIGSERIAL,                                   -- qgen:seq
    "uuid" VARCHAR(36) NOT NULL,                          -- qgen:payload
    "created_at" TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, -- qgen:payload
    "payload" JSON DEFAULT NULL,                          -- qgen:payload
    "metadata" JSON DEFAULT NULL,                         -- qgen:payload
    "transaction_id" xid8 NOT NULL,                       -- qgen:on enqueue set "pg_current_xact_id()"
    PRIMARY KEY ("transaction_id", "offset")
);
