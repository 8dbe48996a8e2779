-- A new row has no columns yet of which others could be made.
-- qgen:queue mails
CREATE TABLE mails (
    id    bigserial PRIMARY KEY,
    due   timestamptz,                  -- qgen:due; on enqueue set "coalesce(due, now())"
    state text NOT NULL DEFAULT 'new',  -- qgen:status ready=new running=busy done=sent
    hash  text,                         -- qgen:on enqueue set "md5({row}.body)"
    body  text NOT NULL,
    place bigint                        -- qgen:on enqueue set "(select max(m.place) + 1 from mails m where m.state = mails.state)"
);

-- This is said of other rows, of tables that the DDL does not have, and of words of SQL.
-- qgen:queue told
CREATE TABLE told (
    id    bigserial PRIMARY KEY,
    state text NOT NULL DEFAULT 'new',  -- qgen:status ready=new running=busy done=sent
    day   date,                         -- qgen:on enqueue set "cast({now} + interval '1 day' as date)"
    date  date,                         -- qgen:on enqueue set "date '2020-01-01'"
    place bigint,                       -- qgen:on enqueue set "(select coalesce(max(place), 0) + 1 from told)"
    body  text                          -- qgen:on enqueue set "(select body from templates where state = 'used')"
);
