-- Buildbot: a row of buildrequest_claims is the claim, and stays when the build is done.
CREATE TABLE buildrequests (
    id           NUMBER(9) GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    builderid    NUMBER(9) NOT NULL,
    priority     NUMBER(9) DEFAULT 0 NOT NULL,
    complete     NUMBER(9) DEFAULT 0,
    complete_at  NUMBER(9),
    submitted_at NUMBER(9) NOT NULL
);
CREATE TABLE buildrequest_claims (
    brid       NUMBER(9) NOT NULL,
    masterid   NUMBER(9),
    claimed_at NUMBER(9) NOT NULL
);
CREATE UNIQUE INDEX buildrequest_claims_brids ON buildrequest_claims (brid);

-- Claims that run out, and count.
CREATE TABLE orders (region VARCHAR2(20) NOT NULL, seq NUMBER(9) NOT NULL, body VARCHAR2(20) NOT NULL, PRIMARY KEY (region, seq));
CREATE TABLE reservations (
    region   VARCHAR2(20) NOT NULL,
    order_no NUMBER(9) NOT NULL,
    holder   VARCHAR2(20),
    since    TIMESTAMP(3) NOT NULL,
    tries    NUMBER(9) NOT NULL,
    PRIMARY KEY (region, order_no)
);

-- The masters, who tell that they are alive.
CREATE TABLE masters (id NUMBER(9) NOT NULL PRIMARY KEY, active NUMBER(9) NOT NULL, last_active NUMBER(9) NOT NULL);
