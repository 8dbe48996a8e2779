CREATE TABLE files (
    id        INTEGER PRIMARY KEY,
    processed BOOLEAN NOT NULL DEFAULT 0 -- qgen:status ready=0 done=1
);
CREATE TABLE blobs (
    id    BLOB PRIMARY KEY NOT NULL,
    state TEXT NOT NULL DEFAULT 'n' -- qgen:status ready=n running=r done=d
);

CREATE TABLE slots (
    hall  TEXT NOT NULL CHECK (hall IN ('a', 'b')), -- qgen:topic
    place INTEGER NOT NULL CHECK (place BETWEEN 1 AND 9),
    state TEXT NOT NULL DEFAULT 'n', -- qgen:status ready=n running=r done=d
    PRIMARY KEY (hall, place)
);

CREATE TABLE visits (
    id    INTEGER PRIMARY KEY,
    state TEXT NOT NULL DEFAULT 'n', -- qgen:status ready=n running=r done=d; on retry set "coalesce(strftime('%s', max(7, {now})), 'n')"
    day   TEXT NOT NULL              -- qgen:ignore
);

CREATE TABLE orders (
    id    INTEGER PRIMARY KEY,
    state TEXT NOT NULL,   -- qgen:status(charge) ready=new running=busy done=done
    files INTEGER NOT NULL -- qgen:status(clean) ready=1 running=2 done=0
);
CREATE TABLE parts (order_id INTEGER NOT NULL);

-- qgen:queue
-- qgen:order "abs(random() % weight)"
CREATE TABLE draws (
    id     INTEGER PRIMARY KEY,
    state  TEXT NOT NULL,    -- qgen:status ready=new running=busy done=done
    tenant INTEGER NOT NULL, -- qgen:group fifo
    weight INTEGER NOT NULL
);

-- VACUUM gives rows other numbers, and the end of a lease is that of many.
CREATE TABLE mails (
    body TEXT NOT NULL,
    till INTEGER DEFAULT 0 -- qgen:lease length=2m as=epoch_ms free=0
);
CREATE TABLE keyed (
    id   INTEGER PRIMARY KEY,
    till INTEGER DEFAULT 0 -- qgen:lease length=2m as=epoch_ms free=0
);
CREATE TABLE held (
    till INTEGER DEFAULT 0, -- qgen:lease length=2m as=epoch_ms free=0
    hold TEXT               -- qgen:token
);
