-- Buildbot: a row of buildrequest_claims is the claim, and stays when the build is done.
CREATE TABLE buildrequests (
    id           integer PRIMARY KEY,
    builderid    integer NOT NULL,
    priority     integer DEFAULT 0 NOT NULL,
    complete     integer DEFAULT 0,
    complete_at  integer,
    submitted_at integer NOT NULL
);
CREATE TABLE buildrequest_claims (
    brid       integer NOT NULL,
    masterid   integer,
    claimed_at integer NOT NULL
);
CREATE UNIQUE INDEX buildrequest_claims_brids ON buildrequest_claims (brid);

-- Claims that run out, and count.
CREATE TABLE orders (region text NOT NULL, seq integer NOT NULL, body text NOT NULL, PRIMARY KEY (region, seq));
CREATE TABLE reservations (
    region   text NOT NULL,
    order_no integer NOT NULL,
    holder   text,
    since    integer NOT NULL,
    tries    integer NOT NULL,
    PRIMARY KEY (region, order_no)
);

-- The masters, who tell that they are alive.
CREATE TABLE masters (id integer NOT NULL PRIMARY KEY, active integer NOT NULL, last_active integer NOT NULL);
