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

CREATE TABLE /*_*/job (
    job_id integer PRIMARY KEY,
    job_cmd varchar(60) NOT NULL,
    job_params blob NOT NULL,
    job_token varchar(60),
    job_token_timestamp integer,
    job_attempts integer NOT NULL
);
CREATE INDEX /*i*/job_cmd_id ON /*_*/job (job_cmd, job_id);

CREATE TABLE notes (
    message_id bigint NOT NULL,
    sent integer NOT NULL DEFAULT 0
);
