CREATE TYPE job_state AS ENUM ('ready', 'running');
CREATE TABLE tenant_jobs (
    tenant  text,
    no      int,
    state   job_state NOT NULL DEFAULT 'ready',
    version bigint NOT NULL DEFAULT 0,
    data    bytea,
    PRIMARY KEY (tenant, no)
);

CREATE TABLE tenant_notes (
    tenant text,
    no     int,
    state  job_state NOT NULL
);
CREATE FUNCTION trimmed() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.tenant := rtrim(NEW.tenant); RETURN NEW; END';
CREATE TRIGGER trims BEFORE INSERT ON tenant_jobs FOR EACH ROW EXECUTE PROCEDURE trimmed();
