-- The transaction of a claim lasts as long as the job: what settles it tells the time itself.
-- qgen:queue jobs strategy=hold done=delete
CREATE TABLE jobs (
    id         bigserial PRIMARY KEY,
    tries      int NOT NULL DEFAULT 0,             -- qgen:attempts up on=retry
    last_retry timestamptz NOT NULL DEFAULT now(), -- qgen:due
    until      timestamptz,                        -- qgen:expires
    body       jsonb NOT NULL
);
CREATE TABLE runs (job_id bigint NOT NULL, at timestamptz NOT NULL);
-- qgen:queue calls strategy=hold
-- qgen:where "opens <= {time}"
CREATE TABLE calls (
    id     bigserial PRIMARY KEY,
    opens  time NOT NULL,
    due_at timestamp NOT NULL, -- qgen:due
    heard  timestamp,          -- qgen:finished
    day    date,               -- qgen:on done set now
    hour   time,               -- qgen:on done set "{time}"
    seen   date                -- qgen:on release set "{today}"
);

-- One job at a time behind a lock of the server, for which only claims ask.
-- qgen:queue singles strategy=hold done=delete
CREATE TABLE singles (
    id   bigserial PRIMARY KEY,
    kind varchar(9) NOT NULL, -- qgen:topic optional
    off  boolean NOT NULL
);
