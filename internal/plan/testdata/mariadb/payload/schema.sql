CREATE TABLE d_mm7 (
    message_id bigint NOT NULL,
    id integer NOT NULL,
    server_id varchar(36) NOT NULL,
    status char(1) NOT NULL,
    send_attempts integer NOT NULL DEFAULT 0,
    PRIMARY KEY (message_id, id)
);

CREATE TABLE d_mc7 (
    metadata_id integer NOT NULL,
    message_id bigint NOT NULL,
    content_type integer NOT NULL,
    content text NOT NULL,
    is_encrypted boolean NOT NULL,
    PRIMARY KEY (message_id, metadata_id, content_type)
);

CREATE TABLE jobs (
    id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    status varchar(10) NOT NULL DEFAULT 'ready',
    token varchar(40),
    lease_till datetime(6),
    body_id bigint NOT NULL
);

CREATE TABLE bodies (
    id bigint PRIMARY KEY,
    body longtext NOT NULL,
    status varchar(10) NOT NULL,
    raw blob,
    made datetime(6)
);

CREATE TABLE heads (
    body_id bigint NOT NULL,
    subject text
);

CREATE TABLE loose (
    body_id bigint NOT NULL
);
