-- Of no project: columns that take no text or number at will, for the test of the package.
CREATE TYPE parcel_size AS ENUM ('small', 'large');

-- qgen:queue parcels
CREATE TABLE parcels (
    id      uuid PRIMARY KEY,
    sender  inet NOT NULL UNIQUE,
    at      time NOT NULL UNIQUE,
    labels  text[] NOT NULL UNIQUE,
    size    parcel_size NOT NULL,                                         -- qgen:topic
    kind    text NOT NULL CHECK (kind IN ('letter', 'box')),              -- qgen:topic not
    grade   smallint NOT NULL CHECK (grade BETWEEN 4 AND 5),              -- qgen:order 1
    weight  numeric(8,2) NOT NULL CHECK (weight >= 10),
    bits    bit(12) NOT NULL UNIQUE,
    about   jsonb NOT NULL,
    state   text NOT NULL DEFAULT 'N',                                    -- qgen:status ready=N running=A done=C
    due     timestamptz NOT NULL DEFAULT now() + interval '1 hour'        -- qgen:due
);
