-- One table, four queues; here two of them. Nothing marks a row as running: every daemon takes its share of the ids.
-- qgen:queue assimilate strategy=partition
CREATE TABLE workunit (
    id                  integer     NOT NULL auto_increment, -- qgen:shard mod
    create_time         integer     NOT NULL,
    appid               integer     NOT NULL,                -- qgen:topic(assimilate)
    name                varchar(191) NOT NULL,
    xml_doc             blob,
    batch               integer     NOT NULL,
    rsc_fpops_est       double      NOT NULL,
    rsc_fpops_bound     double      NOT NULL,
    rsc_memory_bound    double      NOT NULL,
    rsc_disk_bound      double      NOT NULL,
    need_validate       smallint    NOT NULL,
    canonical_resultid  integer     NOT NULL,
    canonical_credit    double      NOT NULL,
    transition_time     integer     NOT NULL,
    delay_bound         integer     NOT NULL,
    error_mask          integer     NOT NULL,
    file_delete_state   integer     NOT NULL,
    assimilate_state    integer     NOT NULL,                -- qgen:status(assimilate) ready=1 done=2
    hr_class            integer     NOT NULL,
    opaque              double      NOT NULL,
    min_quorum          integer     NOT NULL,
    target_nresults     integer     NOT NULL,
    max_error_results   integer     NOT NULL,
    max_total_results   integer     NOT NULL,
    max_success_results integer     NOT NULL,
    result_template_file varchar(63) NOT NULL,
    priority            integer     NOT NULL,
    mod_time            timestamp   NOT NULL default CURRENT_TIMESTAMP on update CURRENT_TIMESTAMP,
    rsc_bandwidth_bound double      NOT NULL,
    fileset_id          integer     NOT NULL,
    app_version_id      integer     NOT NULL,
    transitioner_flags  tinyint     NOT NULL,
    size_class          smallint    NOT NULL default -1,
    keywords            varchar(254) NOT NULL,
    app_version_num     integer     NOT NULL,
    PRIMARY KEY (id)
) engine=InnoDB;

ALTER TABLE workunit
    ADD UNIQUE wu_name (name),
    ADD INDEX wu_val (appid, need_validate),
    ADD INDEX wu_timeout (transition_time),
    ADD INDEX wu_filedel (file_delete_state),
    ADD INDEX wu_assim (appid, assimilate_state),
    ADD INDEX wu_batch (batch);
