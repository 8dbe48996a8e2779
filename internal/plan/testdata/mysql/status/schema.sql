-- States in bytes, as a backup program keeps them; a shorter value is filled up.
-- qgen:queue backups
CREATE TABLE backups (
    id      bigint AUTO_INCREMENT PRIMARY KEY,
    state   binary(1) DEFAULT 'C' NOT NULL, -- qgen:status ready=C running=R done=T failed='\x00'
    kind    binary(3) DEFAULT 'F' NOT NULL -- qgen:topic; qgen:on retry set 'I'
);

-- qgen:queue phases
CREATE TABLE phases (
    id      bigint AUTO_INCREMENT PRIMARY KEY,
    state   binary(3) NOT NULL, -- qgen:status ready=C running=R done=T|TT; qgen:payload
    flags   bit(12) NOT NULL -- qgen:status ready=0 running=1 done=300
);
