-- A row that an instance holds is claimed again by that instance, also before its lease ends.
CREATE TABLE outbox (
    id      uniqueidentifier NOT NULL PRIMARY KEY NONCLUSTERED,
    made    datetime2(7) NOT NULL, -- qgen:order 1
    holder  nvarchar(128) NOT NULL, -- qgen:worker free='' mine=ready
    till    datetime2(7) NOT NULL, -- qgen:lease length=arg expired=claim free='2000-01-01 00:00:00'
    sent    bit NOT NULL, -- qgen:status ready=0 done=1
    body    varbinary(max) NOT NULL
);
-- The status tells which rows run.
CREATE TABLE calls (
    id      bigint IDENTITY PRIMARY KEY,
    state   varchar(10) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=over
    holder  nvarchar(128), -- qgen:worker mine=ready
    begun   datetime2(7) -- qgen:claimed timeout=10m expired=claim
);
