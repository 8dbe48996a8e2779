-- Letters are counted by their address in another table, by each step.

-- qgen:queue letters
CREATE TABLE letters (
    id      bigint AUTO_INCREMENT PRIMARY KEY,
    address varchar(40) NOT NULL,
    weight  int unsigned NOT NULL,
    state   varchar(8) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=sent failed=lost
    tries   int NOT NULL DEFAULT 0, -- qgen:attempts max=3
    till    datetime(6) -- qgen:lease length=5m expired=recover
);

CREATE TABLE tallies (
    address varchar(40) PRIMARY KEY,
    waiting int unsigned NOT NULL DEFAULT 0,
    weight  int unsigned NOT NULL DEFAULT 0,
    last_id bigint,
    seen_at datetime(6)
);
