CREATE TABLE int_channel_message (
  message_id char(36) NOT NULL,
  group_key char(36) NOT NULL,
  created_date bigint NOT NULL,
  message_priority bigint,
  message_sequence bigint NOT NULL DEFAULT nextval('int_message_seq'),
  message_content bytea,
  region varchar(100) NOT NULL,
  CONSTRAINT int_channel_message_pk PRIMARY KEY (region, group_key, created_date, message_sequence)
);
