-- FILE db/V1__create.sql
-- qgen:queue jobs
CREATE TABLE jobs (
    id     NUMBER(19) NOT NULL,
    status VARCHAR2(10) DEFAULT 'NEW' NOT NULL, -- qgen:status ready=NEW running=BUSY done=DONE
    due    TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_jobs PRIMARY KEY (id)
);
CREATE SEQUENCE jobs_seq START WITH 1 INCREMENT BY 50;

CREATE OR REPLACE TRIGGER jobs_id
BEFORE INSERT ON jobs FOR EACH ROW
WHEN (NEW.id IS NULL)
BEGIN
    :NEW.id := jobs_seq.NEXTVAL;
END;
/

-- FILE db/V2__more.sql
ALTER TABLE jobs ADD (
    attempts NUMBER(3) DEFAULT 0 NOT NULL, -- qgen:attempts up max=5
    payload  CLOB CONSTRAINT payload_json CHECK (payload IS JSON)
);
ALTER TABLE jobs MODIFY (due DEFAULT SYSTIMESTAMP NOT NULL);
CREATE INDEX ix_jobs ON jobs (status, due);

-- FILE db/V3__rename.sql
ALTER TABLE jobs RENAME COLUMN due TO run_at;
ALTER TABLE jobs ADD CONSTRAINT ck_status CHECK (status IN ('NEW', 'BUSY', 'DONE'));
COMMENT ON COLUMN jobs.run_at IS 'qgen:due';
BEGIN
    EXECUTE IMMEDIATE 'ALTER TABLE jobs ADD worker VARCHAR2(64)';
EXCEPTION
    WHEN OTHERS THEN
        IF SQLCODE != -1430 THEN RAISE; END IF;
END;
/
-- FILE db/V3__rename.down.sql
DROP TABLE jobs;
