create function update_timestamp() returns trigger as $$
begin
   new.updated = now();
   return new;
end;
$$ language plpgsql;

-- qgen:queue messages done=delete failed=keep
create table goqite (
  id text primary key default ('m_' || replace(gen_random_uuid()::text, '-', '')),
  created timestamptz not null default now(),  -- qgen:enqueued; order 2
  updated timestamptz not null default now(),  -- qgen:ignore -- the trigger writes it
  queue text not null,                         -- qgen:topic
  body bytea not null,                         -- qgen:payload
  timeout timestamptz not null default now(),  -- qgen:visible length=5s
  received integer not null default 0,         -- qgen:attempts up on=claim max=3 limit=claim
  priority integer not null default 0          -- qgen:priority desc
);

create trigger goqite_updated_timestamp
before update on goqite
for each row execute procedure update_timestamp();

create index goqite_queue_priority_created_idx on goqite (queue, priority desc, created);
