-- A constant time is written so that no setting of the session reads it otherwise.
-- qgen:queue BACKUPS done=delete failed=delete
CREATE TABLE BACKUPS (
    ID   NUMBER(10) PRIMARY KEY,
    TILL DATE NOT NULL,    -- qgen:lease length=5m free='9999-12-31'
    SEEN TIMESTAMP(3)      -- qgen:on claim set '2000-01-02 03:04:05.678'
);
