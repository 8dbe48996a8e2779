-- A claim is the end of its jobs, and their rows stay.
-- qgen:queue strategy=pop clock=utc
CREATE TABLE urls (
    id        bigint IDENTITY PRIMARY KEY,
    job       int NOT NULL, -- qgen:topic
    uri       nvarchar(200) NOT NULL,
    processed bit NOT NULL DEFAULT 0, -- qgen:status ready=0 done=1
    seen      datetime2 -- qgen:finished
);
-- qgen:queue strategy=pop clock=utc
CREATE TABLE flips (
    id        bigint IDENTITY PRIMARY KEY,
    status    nvarchar(200) NOT NULL,
    until_at  datetime2, -- qgen:expires
    processed datetime2 -- qgen:status ready=null done=now
);
