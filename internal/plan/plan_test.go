package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/dialect"
	"github.com/qgen-dev/qgen/internal/queue"
	"github.com/qgen-dev/qgen/internal/schema"
	"github.com/qgen-dev/qgen/internal/source"
)

// build runs the pipeline up to the plan over one folder: schema.sql and
// qgen.yaml. It returns the packages by the names of their queue entries.
func build(t *testing.T, dir string, errs *source.ErrorList) []*Package {
	t.Helper()
	open := func(name string) *source.File {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return source.NewFile(name, text)
	}
	cfg := config.Parse(open("qgen.yaml"), errs)
	if errs.Len() > 0 {
		return nil
	}
	type bound struct {
		specs []*queue.Spec
		d     *dialect.Dialect
		of    *config.Queue
	}
	ddl := open("schema.sql")
	var entries []bound
	tables := map[string][]*queue.Spec{} // by engine
	for _, q := range cfg.Queues {
		d, ok := dialect.Lookup(q.Engine.Value)
		if !ok {
			t.Fatalf("unknown engine %q", q.Engine.Value)
		}
		catalog, err := schema.Read(d.Grammar, []*source.File{ddl}, errs)
		if err != nil {
			t.Fatal(err)
		}
		e := bound{queue.Bind(catalog, q, d.Fold, errs), d, q}
		entries = append(entries, e)
		tables[q.Engine.Value] = append(tables[q.Engine.Value], e.specs...)
	}
	for _, specs := range tables {
		queue.Beside(specs)
	}
	var packages []*Package
	planned := map[*queue.Spec]*Package{}
	for _, e := range entries {
		for _, spec := range e.specs {
			var earlier []*Package
			for _, other := range spec.Others {
				if p := planned[other]; p != nil {
					earlier = append(earlier, p)
				}
			}
			if p := Build(spec, e.d, e.of, earlier, errs); p != nil {
				packages = append(packages, p)
				planned[spec] = p
			}
		}
	}
	return packages
}

// review writes the plan as people review it: the package comment, the reasons
// and every statement with its arguments.
func review(p *Package) string {
	var b strings.Builder
	for _, paragraph := range p.Doc {
		fmt.Fprintf(&b, "-- %s\n--\n", strings.ReplaceAll(paragraph, "\n", "\n-- "))
	}
	for _, r := range p.Reasons {
		mark := " "
		if r.Chosen {
			mark = "*"
		}
		fmt.Fprintf(&b, "-- %s %-12s %s\n", mark, r.Strategy, r.Why)
	}
	for _, n := range p.Notes {
		fmt.Fprintf(&b, "-- note: %s\n", n)
	}
	if p.Coexistence != nil {
		for _, f := range p.Coexistence.Facts {
			fmt.Fprintf(&b, "-- old program: %s: %s\n", f.What, f.Text)
		}
	}
	for _, st := range p.Statements() {
		if st.Procedure != nil {
			fmt.Fprintf(&b, "\n%s\n%s\n", st.Procedure.DDL, st.Procedure.End)
		}
		fmt.Fprintf(&b, "\n-- sql/%s.sql\n", st.Name)
		for _, line := range st.Head {
			fmt.Fprintf(&b, "-- %s\n", line)
		}
		var args []string
		for i, a := range st.Args {
			text := string(a.Kind)
			if a.Field != nil {
				text += " " + a.Field.Name
			}
			for _, f := range a.Batch {
				text += " " + f.Name
			}
			if a.Param != nil {
				text += " " + a.Param.Name + " " + a.Param.GoType
			}
			args = append(args, fmt.Sprintf("%d: %s", i+1, text))
		}
		if len(args) > 0 {
			fmt.Fprintf(&b, "-- arguments: %s\n", strings.Join(args, ", "))
		}
		fmt.Fprintf(&b, "%s;\n", strings.TrimSuffix(st.Text(), ";"))
	}
	for _, ix := range p.Indexes {
		if ix.Have != "" {
			fmt.Fprintf(&b, "\n-- %s: %s serves already\n", ix.Why, ix.Have)
			continue
		}
		fmt.Fprintf(&b, "\n-- %s\n", ix.Why)
		if ix.Of != "" {
			fmt.Fprintf(&b, "-- %s advises the same\n", ix.Of)
		}
		fmt.Fprintf(&b, "%s;\n", ix.DDL)
		for _, text := range []string{ix.Then, ix.Rule} {
			if text != "" {
				fmt.Fprintf(&b, "-- %s\n", strings.ReplaceAll(text, "\n", "\n-- "))
			}
		}
	}
	return b.String()
}

// Every folder of testdata is a table and what is planned for it; the goldens
// are what a DBA reviews.
func TestPlans(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, dir := range dirs {
		t.Run(strings.TrimPrefix(dir, "testdata/"), func(t *testing.T) {
			var errs source.ErrorList
			packages := build(t, dir, &errs)
			want := map[string]string{}
			if errs.Len() > 0 {
				want["errors.golden"] = errs.Detail()
			}
			for _, p := range packages {
				want[p.Queue+".golden.sql"] = review(p)
			}
			have, err := filepath.Glob(filepath.Join(dir, "*golden*"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range have {
				if _, ok := want[filepath.Base(path)]; !ok {
					if os.Getenv("UPDATE_GOLDEN") != "" {
						if err := os.Remove(path); err != nil {
							t.Error(err)
						}
						continue
					}
					t.Errorf("%s is not produced any more", path)
				}
			}
			for name, got := range want {
				path := filepath.Join(dir, name)
				if os.Getenv("UPDATE_GOLDEN") != "" {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
					continue
				}
				golden, err := os.ReadFile(path)
				if err != nil {
					t.Fatalf("%v; run UPDATE_GOLDEN=1 go test and read what it writes", err)
				}
				if string(golden) != got {
					t.Errorf("%s differs; got:\n%s", path, got)
				}
			}
		})
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct{ column, exported, unexported string }{
		{"msg_id", "MsgID", "msgID"},
		{"id", "ID", "id"},
		{"MESSAGE_ID", "MessageID", "messageID"},
		{"UpdatedInDB", "UpdatedInDB", "updatedInDB"},
		{"url_path", "URLPath", "urlPath"},
		{"2fa", "X2fa", "x2fa"},
		{"größe", "Größe", "größe"},
		{"日本", "X日本", "x日本"},
		{"a-b c", "ABC", "aBC"},
		{"---", "", ""},
		{"utf8_text", "UTF8Text", "utf8Text"},
		{"RETRIES_", "Retries", "retries"},
	} {
		if got := exported(tt.column); got != tt.exported {
			t.Errorf("exported(%q) = %q, want %q", tt.column, got, tt.exported)
		}
		if got := unexported(tt.column); got != tt.unexported {
			t.Errorf("unexported(%q) = %q, want %q", tt.column, got, tt.unexported)
		}
	}
	for in, want := range map[[2]string]string{
		{"j", "JOB_DATA"}: "JJobData", {"c", "STATUS"}: "CStatus", {"c", "status"}: "CStatus", {"d_mc7", "CONTENT"}: "DMc7Content",
		{"QRTZ", "Data"}: "QRTZData", {"x", "ID"}: "XID",
	} {
		if got := exportedOf(in[0], in[1]); got != want {
			t.Errorf("exportedOf(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"type": "typeValue", "limit": "limitValue", "kind": "kind", "len": "lenValue"} {
		if got := parameter(in); got != want {
			t.Errorf("parameter(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"email": "emailq", "Email_Outbox": "emailoutboxq", "msgq": "msgq", "日本": "queue", "9x": "xq"} {
		if got := packageName(in); got != want {
			t.Errorf("packageName(%q) = %q, want %q", in, got, want)
		}
	}
}
