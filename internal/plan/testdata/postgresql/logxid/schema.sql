-- Rows know the transaction that added them, as those of Watermill.
CREATE TABLE messages (
    "offset"       bigserial,     -- qgen:seq
    transaction_id xid8 NOT NULL, -- qgen:on enqueue set "pg_current_xact_id()"
    payload        json,
    PRIMARY KEY (transaction_id, "offset")
);
