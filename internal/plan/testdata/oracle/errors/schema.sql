CREATE TABLE blank (
    id     NUMBER(9) PRIMARY KEY,
    status VARCHAR2(1) -- qgen:status ready='' running=A done=C
);
CREATE TABLE plain (
    id     NUMBER(9) PRIMARY KEY,
    status VARCHAR2(1) DEFAULT 'N' NOT NULL -- qgen:status ready=N running=A done=C
);
CREATE TABLE flat (
    id     NUMBER(9),
    status VARCHAR2(1) DEFAULT 'N' NOT NULL, -- qgen:status ready=N running=A done=C
    CONSTRAINT flat_pk PRIMARY KEY (id)
) ORGANIZATION INDEX;
CREATE TABLE subrequest (
    id     NUMBER(9) PRIMARY KEY,
    status NUMBER(2) DEFAULT 0 NOT NULL -- qgen:status ready=0 running=3 done=8
) PARTITION BY LIST (status) (PARTITION p_start VALUES (0), PARTITION p_other VALUES (DEFAULT)) ENABLE ROW MOVEMENT;
CREATE TABLE heap (
    line   VARCHAR2(100),
    status NUMBER(2) DEFAULT 0 NOT NULL -- qgen:status ready=0 done=8
) PARTITION BY LIST (status) (PARTITION p_start VALUES (0), PARTITION p_other VALUES (DEFAULT)) ENABLE ROW MOVEMENT;
CREATE TABLE made (
  id NUMBER(19) NOT NULL,
  state varchar2(10) NOT NULL -- qgen:status ready=new running=busy done=done
) ORGANIZATION HEAP;
DECLARE
  n VARCHAR2(30) := 'MADE_PK';
BEGIN
  EXECUTE IMMEDIATE 'ALTER TABLE made ADD CONSTRAINT ' || n || ' PRIMARY KEY (id)';
END;
/
CREATE TABLE leaves (id NUMBER(9), CONSTRAINT leaves_pk PRIMARY KEY (id)) ORGANIZATION INDEX;
CREATE TABLE leaves_running (id NUMBER(9) PRIMARY KEY);
CREATE TABLE untyped ( -- qgen:queue untyped
    id    NUMBER(18) PRIMARY KEY,
    state CLOB NOT NULL -- qgen:status ready=new running=busy done=done
);
