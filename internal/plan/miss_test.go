package plan

import (
	"strings"
	"testing"
)

// Where an index is advised, the one of the table that comes nearest is told, and why it does not serve.
func TestNearestIndexIsTold(t *testing.T) {
	const table = `CREATE TABLE jobs (
    id      bigint PRIMARY KEY,
    state   text NOT NULL,        -- qgen:status ready=new running=busy done=done failed=failed
    kind    text NOT NULL,        -- qgen:topic
    created timestamptz NOT NULL, -- qgen:order
    host    text
);
`
	for ddl, want := range map[string]string{
		"":                                           "",
		"CREATE INDEX a ON jobs (host)":              "",
		"CREATE INDEX a ON jobs (created)":           "a does not serve: it has created before state, which tells the rows that are wanted",
		"CREATE INDEX a ON jobs (state, kind)":       "a does not serve: it does not have created, so that what it finds would be sorted",
		"CREATE INDEX a ON jobs (kind, created)":     "a does not serve: it has created before state, which tells the rows that are wanted",
		"CREATE INDEX a ON jobs (state, host, kind)": "a does not serve: behind state it has host, which is neither compared with one value nor what comes next in the order",
		"CREATE INDEX a ON jobs (kind); CREATE INDEX b ON jobs (kind, state)": "b does not serve: it does not have created, so that what it finds would be sorted",
		"CREATE INDEX a ON jobs (kind, created) WHERE state = 'busy'":         "a does not serve: its predicate does not follow from what the statement asks",
		"CREATE INDEX a ON jobs USING hash (kind)":                            "a does not serve: it is of the kind hash",
	} {
		c := tableCase{engine: "postgresql", ddl: table + ddl + ";"}
		p := c.plans(t, "version: \"1\"\nqueues: [{schema: [x], engine: postgresql, table: jobs, queue: jobs, gen: {go: {out: x}}}]")[0]
		if len(p.Indexes) != 1 || p.Indexes[0].Miss != want {
			t.Errorf("%s\n%+v\nwant %q", ddl, p.Indexes, want)
		}
	}
}

// An index is read from either end, so it lacks nothing that the other end gives.
func TestNearestIndexIsReadFromEitherEnd(t *testing.T) {
	const table = `CREATE TABLE jobs (
    id      bigint NOT NULL PRIMARY KEY, -- qgen:order 2 desc
    state   varchar(9) NOT NULL,         -- qgen:status ready=new running=busy done=done failed=failed
    created bigint NOT NULL              -- qgen:order 1 desc
);
`
	for ddl, want := range map[string]string{
		"CREATE INDEX a ON jobs (state, created)":          "a does not serve: it does not have id, so that what it finds would be sorted",
		"CREATE INDEX a ON jobs (state, created, id DESC)": "a does not serve: id stands in it in another order",
	} {
		c := tableCase{engine: "oracle", ddl: strings.NewReplacer("bigint", "NUMBER(19)", "varchar", "VARCHAR2").Replace(table) + ddl + ";"}
		p := c.plans(t, "version: \"1\"\nqueues: [{schema: [x], engine: oracle, table: jobs, queue: jobs, gen: {go: {out: x}}}]")[0]
		if len(p.Indexes) != 1 || !strings.EqualFold(p.Indexes[0].Miss, want) {
			t.Errorf("%s\n%+v\nwant %q", ddl, p.Indexes, want)
		}
	}
}

// An index that begins with the state serves where the queue is ordered by that first: the rows of each of its
// values come after those of the one before. Whether the server ends it with the key decides about the ties.
func TestStateThatLeadsTheOrder(t *testing.T) {
	const table = `CREATE TABLE jobs (
    id    bigint NOT NULL PRIMARY KEY,
    kind  int NOT NULL,
    state smallint NOT NULL, -- qgen:status ready=0|1 running=2 done=3; qgen:order 1
    note  varchar(20)
);
`
	for _, c := range []struct{ engine, ddl, miss string }{
		{"mssql", "CREATE INDEX a ON jobs (state)", ""},
		{"mssql", "CREATE INDEX a ON jobs (state, id)", ""},
		{"mssql", "CREATE INDEX a ON jobs (state, kind)", "a does not serve: behind state it has kind, which is neither compared with one value nor what comes next in the order"},
		{"mssql", "CREATE INDEX a ON jobs (kind, state)", "a does not serve: it begins with kind, which is neither compared with one value nor what comes next in the order"},
		{"postgresql", "CREATE INDEX a ON jobs (state)", "a does not serve: it does not have id, so that what it finds would be sorted"},
		{"postgresql", "CREATE INDEX a ON jobs (state, id)", ""},
		{"postgresql", "CREATE INDEX a ON jobs (state DESC, id DESC)", ""},
		{"postgresql", "CREATE INDEX a ON jobs (state DESC, id)", "a does not serve: id stands in it in another order"},
		{"sqlite", "CREATE INDEX a ON jobs (state, id)", ""},
	} {
		tc := tableCase{engine: c.engine, ddl: table + c.ddl + ";"}
		p := tc.plans(t, "version: \"1\"\nqueues: [{schema: [x], engine: "+c.engine+", table: jobs, queue: jobs, gen: {go: {out: x}}}]")[0]
		if len(p.Indexes) != 1 || p.Indexes[0].Miss != c.miss || (p.Indexes[0].Have == "a") != (c.miss == "") {
			t.Errorf("%s: %s\n%+v\nwant %q", c.engine, c.ddl, p.Indexes, c.miss)
		}
	}
}

// What the advised index does not tell either, another is not said to lack.
func TestNearestIndexLacksWhatIsAdvised(t *testing.T) {
	c := tableCase{engine: "mariadb", ddl: `CREATE TABLE jobs (
    id    bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
    owner int NOT NULL,
    kind  int NOT NULL,
    state varchar(20) NOT NULL DEFAULT 'new', -- qgen:status ready=new running=busy done=done
    KEY jobs_owner (owner)
);`}
	p := c.plans(t, "version: \"1\"\nqueues: [{schema: [x], engine: mariadb, table: jobs, queue: 'jobs enqueue=absent like=\"owner, kind\" among=ready', gen: {go: {out: x}}}]")[0]
	if last := p.Indexes[len(p.Indexes)-1]; last.Miss != "jobs_owner does not serve: it does not have kind" {
		t.Errorf("%+v", last)
	}
}

// An index whose predicate says what a column of it holds is as near as one without the column.
func TestNearestIndexSaysByItsPredicate(t *testing.T) {
	c := tableCase{engine: "postgresql", ddl: `CREATE TABLE outbox (
    no   serial PRIMARY KEY,   -- qgen:order
    kind text NOT NULL,        -- qgen:topic
    team text,                 -- qgen:topic
    sent boolean DEFAULT false -- qgen:status ready=false done=true
);
CREATE INDEX outbox_kind_no ON outbox (kind, no);
CREATE INDEX outbox_kind_sent ON outbox (kind, sent, no) WHERE sent = false;`}
	p := c.plans(t, "version: \"1\"\nqueues: [{schema: [x], engine: postgresql, table: outbox, queue: 'outbox strategy=pop', gen: {go: {out: x}}}]")[0]
	if len(p.Indexes) != 1 || p.Indexes[0].Miss != "outbox_kind_sent does not serve: it does not have team" {
		t.Errorf("%+v", p.Indexes)
	}
}
