-- An index gives the order of an expression, so that a claim by row locks locks no more than it takes.
CREATE TABLE mail (
    id      int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    account int unsigned NOT NULL,
    type    int unsigned NOT NULL,
    body    text NOT NULL,
    KEY mail_order (account, (FIELD(type, 1, 4, 2, 3)) DESC, id)
);

-- Here it is advised.
CREATE TABLE post (
    id      int unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY,
    account int unsigned NOT NULL,
    type    int unsigned NOT NULL,
    body    text NOT NULL
);
