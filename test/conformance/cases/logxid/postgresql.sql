-- Rows know the transaction that added them.
CREATE TABLE jobs (
    id             bigserial, -- qgen:seq
    transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
    n              bigint NOT NULL,
    PRIMARY KEY (transaction_id, id)
);
