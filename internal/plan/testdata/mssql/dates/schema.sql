-- A constant time is written so that no setting of the session reads it otherwise: of DATETIME, '9999-12-31 00:00:00' is
-- a year, a day and a month under SET DATEFORMAT dmy.
-- qgen:queue backups done=delete failed=delete
CREATE TABLE backups (
    id   INT IDENTITY PRIMARY KEY,
    till DATETIME NOT NULL DEFAULT '99991231', -- qgen:lease length=5m free='9999-12-31'
    seen SMALLDATETIME NULL,                   -- qgen:on claim set '2000-01-02 03:04:00'
    kept DATETIME2 NULL                        -- qgen:on claim set '2000-01-02 03:04:05'
);
