-- qgen:queue items
CREATE TABLE items (
    id     bigint AUTO_INCREMENT PRIMARY KEY,
    kind   varchar(50) NOT NULL,
    status varchar(10) NOT NULL DEFAULT 'new' -- qgen:status ready=new running=busy done=done
);
