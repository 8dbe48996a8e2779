-- Nulls sort first here, so that what comes last has to say so.
-- qgen:queue natural
CREATE TABLE natural_order (
    id   INT8 PRIMARY KEY DEFAULT unique_rowid(),
    st   STRING NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    prio INT8                           -- qgen:priority desc
);
-- qgen:queue last
CREATE TABLE nulls_last (
    id   INT8 PRIMARY KEY DEFAULT unique_rowid(),
    st   STRING NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    prio INT8                           -- qgen:order asc nulls=last
);
