-- The operations of one account, in an order that an expression gives: an index leads to them, and the few are sorted.
CREATE TABLE operation (
    id      integer PRIMARY KEY,
    account integer,
    folder  integer NOT NULL,
    name    text NOT NULL,
    tries   integer NOT NULL,
    state   text
);
CREATE INDEX operation_account ON operation (account);
CREATE INDEX operation_folder ON operation (folder);
CREATE INDEX operation_state ON operation (state);
CREATE INDEX operation_claim ON operation (account, state, id);
