package servers

import (
	"database/sql"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// versions are what each server says about itself. Debian's unstable suite may
// have moved on from MySQL 9.7.
var versions = map[string]*regexp.Regexp{
	"postgres10":       regexp.MustCompile(`^10\.`),
	"postgres13":       regexp.MustCompile(`^13\.`),
	"postgres15":       regexp.MustCompile(`^15\.`),
	"postgres18":       regexp.MustCompile(`^18\.`),
	"mysql56":          regexp.MustCompile(`^5\.6\.`),
	"mysql97":          regexp.MustCompile(`^(9\.([7-9]|\d\d)|\d\d)\.[^M]*$`),
	"mariadb105":       regexp.MustCompile(`^10\.5\..*MariaDB`),
	"mariadb1011":      regexp.MustCompile(`^10\.11\..*MariaDB`),
	"mariadb118":       regexp.MustCompile(`^11\.8\..*MariaDB`),
	"galera":           regexp.MustCompile(`^10\.11\..*MariaDB`),
	"groupreplication": regexp.MustCompile(`^(9\.([7-9]|\d\d)|\d\d)\.[^M]*$`),
}

// TestServers connects to every server that is up: each is what its name says,
// empty, and its user may create, write and read; a cluster has three nodes, and
// each of them sees what another wrote.
func TestServers(t *testing.T) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var nodes []*sql.DB
			for _, dsn := range Nodes(t, name) {
				nodes = append(nodes, open(t, dsn))
			}
			for _, node := range nodes {
				if version := ask(t, node, versionOf(name)); !versions[name].MatchString(version) {
					t.Errorf("the server is of version %s", version)
				}
			}
			switch name {
			case "galera":
				each(t, nodes, "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'wsrep_cluster_size'", "3")
				each(t, nodes, "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'wsrep_local_state_comment'", "Synced")
				do(t, nodes, "SET SESSION wsrep_sync_wait = 1")
				three(t, nodes)
			case "groupreplication":
				each(t, nodes, "SELECT count(*) FROM performance_schema.replication_group_members WHERE member_state = 'ONLINE' AND member_role = 'PRIMARY'", "3")
				do(t, nodes, "SET SESSION group_replication_consistency = 'BEFORE'")
				three(t, nodes)
			}
			writes(t, nodes)
		})
	}
}

// three demands that a cluster's nodes are three.
func three(t *testing.T, nodes []*sql.DB) {
	t.Helper()
	if len(nodes) != 3 {
		t.Fatalf("the cluster has %d DSNs, want 3", len(nodes))
	}
}

// writes writes a row on every node and reads all of them on every node.
func writes(t *testing.T, nodes []*sql.DB) {
	t.Helper()
	first := nodes[:1]
	do(t, first, "CREATE TABLE servers_test (id int PRIMARY KEY)")
	defer do(t, first, "DROP TABLE servers_test")
	for i, node := range nodes {
		each(t, nodes, "SELECT count(*) FROM servers_test", string(rune('0'+i)))
		do(t, []*sql.DB{node}, "INSERT INTO servers_test VALUES ("+string(rune('0'+i))+")")
	}
	each(t, nodes, "SELECT count(*) FROM servers_test", string(rune('0'+len(nodes))))
}

func versionOf(name string) string {
	if strings.HasPrefix(name, "postgres") {
		return "SHOW server_version"
	}
	return "SELECT version()"
}

// open connects by one connection, so that a setting of the session stays.
func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	driver := "mysql"
	if strings.Contains(dsn, "://") {
		driver = "pgx"
	}
	return Open(t, driver, dsn, 1)
}

func do(t *testing.T, nodes []*sql.DB, statement string) {
	t.Helper()
	for _, node := range nodes {
		if _, err := node.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func ask(t *testing.T, node *sql.DB, query string) string {
	t.Helper()
	var answer string
	if err := node.QueryRow(query).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer
}

func each(t *testing.T, nodes []*sql.DB, query, want string) {
	t.Helper()
	for i, node := range nodes {
		if got := ask(t, node, query); got != want {
			t.Errorf("node %d: %s: %s, want %s", i+1, query, got, want)
		}
	}
}

// record is a test that ends as soon as it is skipped or fails, and says which.
type record struct {
	testing.TB
	ended string
}

func (r *record) Helper()               {}
func (r *record) Skipf(string, ...any)  { r.ended = "skipped"; panic(r) }
func (r *record) Fatalf(string, ...any) { r.ended = "failed"; panic(r) }

// nodes asks for nodes as a test would.
func (r *record) nodes(name string) (nodes []string) {
	defer func() {
		if e := recover(); e != nil && e != any(r) {
			panic(e)
		}
	}()
	return Nodes(r, name)
}

func TestNodes(t *testing.T) {
	for _, name := range names {
		t.Setenv(variable(name), "")
	}
	t.Setenv("QGEN_TEST_MYSQL97", "a@tcp(b)/c")
	t.Setenv("QGEN_TEST_GALERA", "x@tcp(1)/q,x@tcp(2)/q,x@tcp(3)/q")
	t.Setenv("QGEN_TEST_REQUIRE", "postgres15,mysql97 mariadb118 sqlite")
	for _, c := range []struct {
		name  string
		nodes []string
		ended string
	}{
		{name: "mysql97", nodes: []string{"a@tcp(b)/c"}},
		{name: "galera", nodes: []string{"x@tcp(1)/q", "x@tcp(2)/q", "x@tcp(3)/q"}},
		{name: "mariadb118", ended: "failed"},
		{name: "postgres15", ended: "failed"},
		{name: "mysql56", ended: "skipped"},
		{name: "mysql55", ended: "failed"},
	} {
		r := &record{TB: t}
		if nodes := r.nodes(c.name); !slices.Equal(nodes, c.nodes) || r.ended != c.ended {
			t.Errorf("%s: %v, %q; want %v, %q", c.name, nodes, r.ended, c.nodes, c.ended)
		}
	}
	if got, want := Names(), []string{"postgres15", "mysql97", "mariadb118", "galera"}; !slices.Equal(got, want) {
		t.Errorf("Names: %v, want %v", got, want)
	}
	if got, want := PostgresVersions(), []string{"15"}; !slices.Equal(got, want) {
		t.Errorf("PostgresVersions: %v, want %v", got, want)
	}
}

// TestWithKnowsTheNames compares the names with those that the script starts.
func TestWithKnowsTheNames(t *testing.T) {
	script, err := os.ReadFile("with")
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, m := range regexp.MustCompile(`\[(\w+)\]="\w+\.sh `).FindAllSubmatch(script, -1) {
		known = append(known, string(m[1]))
	}
	if !slices.Equal(known, names) {
		t.Errorf("with knows %v, the package %v", known, names)
	}
}

func TestStatements(t *testing.T) {
	const script = `-- A comment before, with a semicolon;

CREATE TABLE a (id int, -- one within;
    b text);
CREATE TABLE b (id int); -- one behind
create function f() returns trigger as $$
begin
   return new;
end;
$$ language plpgsql;
create trigger t after update on a begin
  update a set b = '';
end;
GO
CREATE SCHEMA c
GO
CREATE TRIGGER u ON a AFTER UPDATE AS
    SELECT 1;
GO
`
	want := []string{
		"CREATE TABLE a (id int, -- one within;\n    b text)",
		"CREATE TABLE b (id int)",
		"create function f() returns trigger as $$\nbegin\n   return new;\nend;\n$$ language plpgsql",
		"create trigger t after update on a begin\n  update a set b = '';\nend",
		"CREATE SCHEMA c\n",
		"CREATE TRIGGER u ON a AFTER UPDATE AS\n    SELECT 1",
	}
	if got := Statements(t, script); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
