-- Which rows are wanted, a bound of the column says by which they come: the index leads to these, and to no others.
CREATE TABLE tasks (
    id           bigserial PRIMARY KEY,
    state        text NOT NULL,
    scheduled_at timestamptz NOT NULL
);
CREATE INDEX tasks_scheduled_at ON tasks (scheduled_at);
