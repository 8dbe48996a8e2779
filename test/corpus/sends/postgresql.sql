-- Times without a zone, in a role, beside an argument, and in the payload.

-- qgen:queue sends cycle
-- qgen:where "made < {arg:before time.Time}"
CREATE TABLE sends (
    id    bigserial PRIMARY KEY,
    name  text NOT NULL,
    due   timestamp NOT NULL,            -- qgen:due
    until timestamp,                     -- qgen:lease length=5m
    made  timestamp NOT NULL,
    day   date
);
