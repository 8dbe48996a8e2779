-- qgen:queue sms
CREATE TABLE outbox (
    id         bigserial PRIMARY KEY,
    due        timestamp NOT NULL DEFAULT now(), -- qgen:due clock=local
    state      text NOT NULL,                    -- qgen:status ready=new running=busy done=sent failed=error
    lease_till timestamptz,                      -- qgen:lease length=5m expired=recover
    token      uuid,                             -- qgen:token
    worker     text,                             -- qgen:worker
    retries    int NOT NULL DEFAULT 0,           -- qgen:attempts up on=retry max=3
    noted      timestamptz,                      -- qgen:on done set now
    ended      timestamptz,                      -- qgen:finished
    last_error text,                             -- qgen:error
    answer     text,                             -- qgen:result
    body       text
);
CREATE TABLE sentitems (
    id     bigint NOT NULL,
    state  varchar(10) NOT NULL,
    due    timestamp,
    noted  timestamptz,
    ended  timestamptz,
    answer text,
    cause  varchar(20)
);
CREATE TABLE parts (outbox_id bigint, place int);
CREATE TABLE totals (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, twice int GENERATED ALWAYS AS (sent * 2) STORED, sent int NOT NULL);
