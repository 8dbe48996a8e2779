-- qgen:queue sms done=delete clock=local
-- qgen:where "sendafter <= {time} AND sendbefore >= {time} AND senddays & {arg:daybit int} <> 0"
CREATE TABLE outbox (
  insertintodb    timestamp NOT NULL DEFAULT LOCALTIMESTAMP, -- qgen:enqueued; order 2
  sendingdatetime timestamp NOT NULL DEFAULT LOCALTIMESTAMP, -- qgen:due
  sendbefore      time NOT NULL DEFAULT '23:59:59',
  sendafter       time NOT NULL DEFAULT '00:00:00',
  senddays        integer NOT NULL DEFAULT 127,
  id              serial PRIMARY KEY,                        -- qgen:id
  senderid        varchar(255),                              -- qgen:topic optional any=null|''
  sendingtimeout  timestamp NULL DEFAULT LOCALTIMESTAMP,     -- qgen:lease length=10m free=now expired=claim
  retries         integer DEFAULT 0,                         -- qgen:attempts up on=retry
  priority        integer DEFAULT 0,                         -- qgen:priority desc
  status          varchar(255) NOT NULL DEFAULT 'Reserved',  -- qgen:ignore
  textdecoded     text NOT NULL DEFAULT ''
);
