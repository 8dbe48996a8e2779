-- A table of another program, which is not to be altered: no status, and what is
-- sent goes away.
CREATE TABLE mail.letters (
    id       bigserial PRIMARY KEY,
    kind     varchar(20) NOT NULL,
    priority int NOT NULL DEFAULT 0,
    posted   timestamptz NOT NULL DEFAULT now(),
    body     text NOT NULL
);
CREATE INDEX letters_next ON mail.letters (priority DESC, id);

-- The key of four parts is that of Spring's channel messages.
CREATE TABLE int_channel_message (
    message_id       char(36) NOT NULL,
    group_key        char(36) NOT NULL,
    region           varchar(100) NOT NULL,
    message_sequence bigint NOT NULL,
    created_date     bigint NOT NULL,
    message_bytes    bytea,
    CONSTRAINT int_channel_message_pk PRIMARY KEY (region, group_key, created_date, message_sequence)
);

-- The status says what is done, and not who is at it.
CREATE TABLE files (
    path      text PRIMARY KEY,
    state     char(1) NOT NULL DEFAULT 'N',
    not_before timestamptz,
    done_at   timestamptz
);

-- What went wrong alone tells that a row has failed.
CREATE TABLE events (
    id            bigserial PRIMARY KEY,
    content       text NOT NULL,
    wedge_reason  bytea
);
