-- qgen:queue messages done=delete failed=keep
create table goqite (
  id text primary key default ('m_' || lower(hex(randomblob(16)))),
  created text not null default (strftime('%Y-%m-%dT%H:%M:%fZ')), -- qgen:enqueued as=text:'2006-01-02T15:04:05.000Z'; order 2
  updated text not null default (strftime('%Y-%m-%dT%H:%M:%fZ')), -- qgen:ignore -- the trigger writes it
  queue text not null,                                            -- qgen:topic
  body blob not null,                                             -- qgen:payload
  timeout text not null default (strftime('%Y-%m-%dT%H:%M:%fZ')), -- qgen:visible length=5s as=text:'2006-01-02T15:04:05.000Z'
  received integer not null default 0,                            -- qgen:attempts up on=claim max=3 limit=claim
  priority integer not null default 0                             -- qgen:priority desc
) strict;

create trigger goqite_updated_timestamp after update on goqite begin
  update goqite set updated = strftime('%Y-%m-%dT%H:%M:%fZ') where id = old.id;
end;

create index goqite_queue_priority_created_idx on goqite (queue, priority desc, created);
