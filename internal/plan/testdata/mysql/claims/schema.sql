-- Buildbot: a row of buildrequest_claims is the claim, and stays when the build is done.
CREATE TABLE buildrequests (
    id           int AUTO_INCREMENT PRIMARY KEY,
    builderid    int NOT NULL,
    priority     int DEFAULT 0 NOT NULL,
    complete     int DEFAULT 0,
    complete_at  int,
    submitted_at int NOT NULL
);
CREATE TABLE buildrequest_claims (
    brid       int NOT NULL,
    masterid   int,
    claimed_at int NOT NULL
);
CREATE UNIQUE INDEX buildrequest_claims_brids ON buildrequest_claims (brid);

-- Claims that run out, and count.
CREATE TABLE orders (region varchar(20) NOT NULL, seq int NOT NULL, body varchar(20) NOT NULL, PRIMARY KEY (region, seq));
CREATE TABLE reservations (
    region   varchar(20) NOT NULL,
    order_no int NOT NULL,
    holder   varchar(20),
    since    datetime(3) NOT NULL,
    tries    int NOT NULL,
    PRIMARY KEY (region, order_no)
);

-- The masters, who tell that they are alive.
CREATE TABLE masters (id int NOT NULL PRIMARY KEY, active int NOT NULL, last_active int NOT NULL);
