-- Buildbot: a row of buildrequest_claims is the claim, and stays when the build is done.
CREATE TABLE buildrequests (
    id           serial PRIMARY KEY,
    builderid    integer NOT NULL,
    priority     integer NOT NULL DEFAULT 0,
    complete     integer DEFAULT 0,
    complete_at  integer,
    submitted_at integer NOT NULL
);
CREATE TABLE buildrequest_claims (
    brid       integer NOT NULL REFERENCES buildrequests (id) ON DELETE CASCADE,
    masterid   integer,
    claimed_at integer NOT NULL
);
CREATE UNIQUE INDEX buildrequest_claims_brids ON buildrequest_claims (brid);

-- Reservations with a lease and a token of their own.
CREATE TABLE orders (id bigint PRIMARY KEY, body text NOT NULL);
CREATE TABLE reservations (
    order_id bigint PRIMARY KEY REFERENCES orders (id),
    mark     uuid,
    holder   text,
    ends_at  timestamptz NOT NULL,
    tries    int NOT NULL,
    problem  text
);

-- The masters, who tell that they are alive.
CREATE TABLE masters (id integer NOT NULL PRIMARY KEY, active integer NOT NULL, last_active integer NOT NULL);
