CREATE TABLE events (
    id         NUMBER(19) GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- qgen:seq gaps settle=60s
    kind       VARCHAR2(20) NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT SYSTIMESTAMP NOT NULL, -- qgen:enqueued
    body       CLOB NOT NULL
);
