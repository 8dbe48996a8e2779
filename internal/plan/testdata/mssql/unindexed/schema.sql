-- nvarchar(max) can be compared, and stands in no index.
-- qgen:queue jobs
CREATE TABLE dbo.jobs (
    id    int IDENTITY PRIMARY KEY,
    state varchar(9) NOT NULL,   -- qgen:status ready=new running=busy done=done
    kind  nvarchar(max) NOT NULL -- qgen:topic
)
