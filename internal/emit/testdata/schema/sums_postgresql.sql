CREATE TABLE sums (
    id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    asked      bigserial,
    claimed_at timestamptz,
    tries_left smallint,
    question   text NOT NULL,
    answer     text
);
