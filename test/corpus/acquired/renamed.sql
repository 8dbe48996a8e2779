-- Whose columns are called otherwise in the table in which jobs run, and whose key has two.
-- qgen:queue mail
CREATE TABLE mail (
    tenant  integer NOT NULL,
    no      integer NOT NULL,
    prio    integer NOT NULL DEFAULT 0, -- qgen:priority desc
    body    text NOT NULL,
    tries   integer NOT NULL DEFAULT 0, -- qgen:attempts on=retry max=2
    holder  text,                       -- qgen:worker
    changes integer NOT NULL DEFAULT 0,
    due     integer,                    -- qgen:due as=epoch_ms
    PRIMARY KEY (tenant, no)
);

CREATE TABLE mail_running (
    customer   integer NOT NULL,
    number     integer NOT NULL,
    text       text NOT NULL,
    urgent     integer NOT NULL,
    failures   integer NOT NULL,
    who        text,
    since      integer NOT NULL,
    till       integer,
    version    integer NOT NULL,
    kind       text NOT NULL,
    waits_till integer,
    UNIQUE (number, customer)
);
