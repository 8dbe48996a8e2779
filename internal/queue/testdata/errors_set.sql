-- set is every value, also that of another state.
-- qgen:queue mails done=delete
CREATE TABLE mails (
    id     bigserial PRIMARY KEY,
    server text -- qgen:status ready=null running~set failed='failed'|'bounced'
);
-- What a claim writes is not judged where the words for a running row are wrong.
-- qgen:queue locks done=delete
CREATE TABLE locks (
    id     bigserial PRIMARY KEY,
    holder text -- qgen:status ready=null running=set; on claim set arg:holder
);
