-- The request queue of a tape archive: the state decides in which partition a row stands.
-- qgen:queue subrequests
CREATE TABLE SubRequest
  (retryCounter NUMBER,                -- qgen:attempts up on=retry
   fileName VARCHAR2(2048),
   protocol VARCHAR2(2048),
   xsize INTEGER,
   priority NUMBER,
   subreqId VARCHAR2(2048),            -- qgen:on claim set "nvl(subreqId, rawtohex(sys_guid()))"
   flags NUMBER,
   modeBits NUMBER,
   creationTime INTEGER,               -- qgen:enqueued as=epoch; order
   lastModificationTime INTEGER,       -- qgen:on claim,retry,done,fail set now as=epoch
   answered NUMBER,
   errorCode NUMBER,
   errorMessage VARCHAR2(2048),        -- qgen:error
   id NUMBER CONSTRAINT NN_SubRequest_Id NOT NULL,
   diskcopy INTEGER,
   castorFile INTEGER,
   parent INTEGER,
   status INTEGER,                     -- qgen:status ready=1|0|2 running=3 done=8 failed=7
   request INTEGER,
   getNextStatus INTEGER,
   requestedFileSystems VARCHAR2(2048),
   svcHandler VARCHAR2(2048) CONSTRAINT NN_SubRequest_SvcHandler NOT NULL, -- qgen:topic
   reqType INTEGER CONSTRAINT NN_SubRequest_reqType NOT NULL
  )
  PCTFREE 50 PCTUSED 40 INITRANS 50
  ENABLE ROW MOVEMENT
  PARTITION BY LIST (STATUS)
   (
    PARTITION P_STATUS_0_1_2   VALUES (0, 1, 2),
    PARTITION P_STATUS_3_13_14 VALUES (3, 13, 14),
    PARTITION P_STATUS_4       VALUES (4),
    PARTITION P_STATUS_9_10    VALUES (9, 10),
    PARTITION P_STATUS_OTHER   VALUES (DEFAULT)
   );

ALTER TABLE SubRequest
  ADD CONSTRAINT PK_SubRequest_Id PRIMARY KEY (ID);

CREATE INDEX I_SubRequest_Castorfile ON SubRequest (castorFile);
CREATE INDEX I_SubRequest_DiskCopy ON SubRequest (diskCopy);
CREATE INDEX I_SubRequest_Request ON SubRequest (request);
CREATE INDEX I_SubRequest_SubReqId ON SubRequest (subReqId);
CREATE INDEX I_SubRequest_RT_CT_ID ON SubRequest (svcHandler, creationTime, id) LOCAL;
