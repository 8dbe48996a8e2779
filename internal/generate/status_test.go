package generate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/source"
)

// statusTypes are types of columns: all for which a dialect has a rule, and of each class
// one at least.
var statusTypes = map[string]string{
	"postgresql": `smallint; integer; bigint; real; double precision; numeric; boolean; bytea; uuid; json; jsonb; timestamptz; timestamp; date;
		text; varchar; varchar(9); bpchar; char; char(3); bit; bit(8); varbit; xid8; time; interval; inet`,
	"mysql": `tinyint; smallint; mediumint; int; integer; bigint; tinyint unsigned; smallint unsigned; mediumint unsigned; int unsigned;
		integer unsigned; bigint unsigned; tinyint(1); float; float unsigned; double; double unsigned; decimal(5); decimal unsigned; year;
		bit(1); bit(8); bit(64); timestamp; datetime; date; time; char; char(3); varchar(9); text; binary; binary(3); varbinary(9); blob; json; enum('0','1')`,
	"sqlite": "integer; real; numeric; boolean; blob; text; varchar(9); date; datetime; json; bit(8); binary(3); uuid; any",
	"mssql": `tinyint; smallint; int; bigint; real; float; money; smallmoney; decimal(5); numeric; bit; char; varchar; varchar(max); text;
		nchar; nvarchar; nvarchar(max); ntext; sysname; xml; json; image; timestamp; rowversion; uniqueidentifier; datetime2; datetime;
		smalldatetime; datetimeoffset; date; time; binary(3); varbinary(9)`,
	"oracle": `number; number(1); number(5); number(5,2); date; timestamp; timestamp with time zone; timestamp with local time zone;
		binary_float; binary_double; varchar2(9); char(3); clob; nclob; raw(3); blob; interval day to second; json`,
}

// statusValues are two values of a class as users write them.
var statusValues = []string{
	"ready=0 running=1", "ready=08 running=-1", "ready='a' running='b'", "ready=false running=true",
	"ready='2020-01-01' running='2020-01-02'", "ready='1970-01-01 00:00:00+00' running=now",
	"ready='10:00' running='11:00'", "ready=00000000-0000-4000-8000-000000000000 running=00000000-0000-4000-8000-000000000001",
	`ready='\x00' running='\x0a'`,
}

// A status of whatever type, that a job carries or not, ends in complaints or in a
// package that compiles.
func TestStatusOfEveryTypeCompiles(t *testing.T) {
	compiler, seen := newCompiler(t), map[string]bool{}
	for engine, list := range statusTypes {
		d, _ := dialect.Lookup(engine)
		var kinds []string
		for kind := range strings.SplitSeq(list, ";") {
			kinds = append(kinds, strings.TrimSpace(kind))
		}
		for name := range d.Types {
			if name, _, _ = strings.Cut(name, " "); !slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(kind, name) }) {
				t.Errorf("%s: no status of the type %s", engine, name)
			}
		}
		for _, kind := range kinds {
			compiled, column := 0, kind+" NOT NULL"
			for _, values := range statusValues {
				for _, more := range []string{"", "; qgen:payload; qgen:order 1"} {
					if !compilesStatus(t, compiler, seen, engine, column, values+more) {
						break
					}
					compiled++
				}
				if compilesStatus(t, compiler, seen, engine, kind, values+"; qgen:payload; qgen:order 1") {
					compiled++
				}
			}
			refused := slices.Contains(d.Uncompared, kind)
			if refused && compiled > 0 {
				t.Errorf("%s: a status of the type %s, which is not compared", engine, kind)
			}
			if compiled == 0 && !refused && !slices.Contains([]string{"rowversion", "timestamp", "json", "jsonb"}, kind) {
				t.Errorf("%s: no values suit a status of the type %s", engine, kind)
			}
		}
	}
}

// compilesStatus reports whether a table with such a status became a package; seen are
// those that were compiled.
func compilesStatus(t *testing.T, compiler *compiler, seen map[string]bool, engine, kind, words string) bool {
	t.Helper()
	ddl := fmt.Sprintf("-- qgen:queue jobs done=delete\nCREATE TABLE jobs (\n    id bigint PRIMARY KEY,\n    state %s -- qgen:status %s\n);\n", kind, words)
	if engine == "oracle" {
		ddl = strings.Replace(ddl, "bigint", "number(18)", 1)
	}
	root := tree(t, map[string]string{
		"qgen.yaml":  fmt.Sprintf("version: \"1\"\nqueues:\n  - {schema: schema.sql, engine: %s, clock: utc, gen: {go: {out: jobs, package: jobs, sql_package: database/sql}}}\n", engine),
		"schema.sql": ddl,
	})
	var errs source.ErrorList
	p, err := Load(root, "", &errs)
	if err != nil {
		t.Fatal(err)
	}
	packages, err := p.Plan(nil, &errs)
	if err != nil {
		t.Fatal(err)
	}
	if errs.Len() > 0 {
		return false
	}
	// Types that are alike in Go differ in the SQL.
	alike := engine
	for _, p := range packages {
		for _, f := range p.Plan.Fields {
			alike += fmt.Sprintf(" %s %t %s %s", f.GoType, f.Null, f.Codec, f.Layout)
		}
		if p.Plan.Status != nil {
			alike += fmt.Sprint(p.Plan.Status.GoType, p.Plan.Status.Field != nil, p.Plan.Status.Consts)
		}
	}
	if seen[alike] {
		return true
	}
	seen[alike] = true
	if err = compiler.compile(packages); err != nil {
		t.Errorf("%s: %v\n%s", engine, err, ddl)
	}
	return err == nil
}
