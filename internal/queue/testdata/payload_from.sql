CREATE TABLE d_mm7 (
    message_id bigint NOT NULL,
    id integer NOT NULL,
    status char(1) NOT NULL,
    PRIMARY KEY (message_id, id)
);

CREATE TABLE d_mc7 (
    metadata_id integer NOT NULL,
    message_id bigint NOT NULL,
    content_type integer NOT NULL,
    content text,
    received timestamp,
    PRIMARY KEY (message_id, metadata_id, content_type)
);
