-- qgen:queue files done=delete
CREATE TABLE files (
  id         uniqueidentifier NOT NULL DEFAULT NEWSEQUENTIALID() PRIMARY KEY,
  path       nvarchar(500) NOT NULL,
  size       bigint NOT NULL DEFAULT 0,
  tries      int NOT NULL DEFAULT 0, -- qgen:attempts max=5
  added_at   datetime2 NOT NULL DEFAULT SYSUTCDATETIME(), -- qgen:order; qgen:enqueued clock=utc
  not_before datetime2,              -- qgen:due clock=utc
  problem    nvarchar(1000)          -- qgen:error
);
CREATE TABLE files_acquired (
  id          uniqueidentifier NOT NULL PRIMARY KEY,
  path        nvarchar(500) NOT NULL,
  size        bigint NOT NULL DEFAULT 0,
  tries       int NOT NULL DEFAULT 0,
  added_at    datetime2 NOT NULL,
  problem     nvarchar(1000),
  acquired_by nvarchar(100) NOT NULL, -- qgen:worker
  acquired_at datetime2 NOT NULL,     -- qgen:claimed clock=utc
  lease_till  datetime2 NOT NULL,     -- qgen:lease length=5m clock=utc
  mark        uniqueidentifier NOT NULL -- qgen:token
);
CREATE TABLE files_failed (
  id      uniqueidentifier NOT NULL PRIMARY KEY,
  path    nvarchar(500) NOT NULL,
  tries   int NOT NULL,
  problem nvarchar(1000)
);
