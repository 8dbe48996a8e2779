package generate

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/qgen-dev/qgen/internal/config"
	"github.com/qgen-dev/qgen/internal/source"
)

func TestExpand(t *testing.T) {
	root := tree(t, map[string]string{
		"schema.sql":             "",
		"notes.txt":              "",
		"db/2_b.up.sql":          "",
		"db/2_b.down.sql":        "",
		"db/1_a.sql":             "",
		"db/.hidden.sql":         "",
		"db/readme.md":           "",
		"db/sub/3_c.sql":         "",
		"empty/readme.md":        "",
		"down/1.down.sql":        "",
		"app[1]/conf/qgen.yaml":  "",
		"app[1]/schema/t.sql":    "",
		"app[1]/conf/own.sql":    "",
		"app[1]/conf/a[b]/c.sql": "",
	})
	at := func(dir string) *Project { return &Project{Root: filepath.Join(root, dir)} }
	for _, tt := range []struct {
		dir, pattern string
		want         []string
		err          string
	}{
		{"", "schema.sql", []string{"schema.sql"}, ""},
		{"", "./schema.sql", []string{"schema.sql"}, ""},
		{"", "notes.txt", []string{"notes.txt"}, ""}, // named: it is DDL
		{"", "db", []string{"db/1_a.sql", "db/2_b.up.sql"}, ""},
		{"", "db/", []string{"db/1_a.sql", "db/2_b.up.sql"}, ""},
		{"", "db/*.sql", []string{"db/1_a.sql", "db/2_b.up.sql"}, ""},
		{"", "db/.hidden.sql", []string{"db/.hidden.sql"}, ""},
		{"", "d?/su*", []string{"db/sub/3_c.sql"}, ""},
		{"", ".", []string{"schema.sql"}, ""},
		{"app[1]/conf", "../schema", []string{"../schema/t.sql"}, ""},
		{"app[1]/conf", "../schema/*.sql", []string{"../schema/t.sql"}, ""},
		{"app[1]/conf", "..", nil, "holds no .sql file"},
		{"app[1]/conf", "own.sql", []string{"own.sql"}, ""},
		{"app[1]/conf", "a[b]/c.sql", nil, "matches no file"},
		{"app[1]/conf", `a\[b]/c.sql`, []string{"a[b]/c.sql"}, ""},
		{"", "nothing.sql", nil, "does not exist"},
		{"", "db/*.ddl", nil, "matches no file"},
		{"", "empty", nil, "holds no .sql file"},
		{"", "down", nil, "holds down migrations only"},
		{"", "down/1.down.sql", nil, "holds down migrations only"},
		{"", "[", nil, "is not a glob that can be read"},
		{"", filepath.ToSlash(filepath.Join(root, "schema.sql")), []string{filepath.ToSlash(filepath.Join(root, "schema.sql"))}, ""},
	} {
		got, err := at(tt.dir).expand(tt.pattern)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if !slices.Equal(got, tt.want) || text != tt.err {
			t.Errorf("%s in %q: %q, %q; want %q, %q", tt.pattern, tt.dir, got, text, tt.want, tt.err)
		}
	}
}

func TestDDLFiles(t *testing.T) {
	p := &Project{Root: tree(t, map[string]string{"b.sql": "b", "a.sql": "a", "c.sql": "c", "d.sql": "-- \ufffd\n-- caf\xe9"})}
	conf := source.NewFile("qgen.yaml", []byte("b.sql x.sql *.sql"))
	var errs source.ErrorList
	files := p.ddlFiles([]config.String{
		{Value: "b.sql", Pos: conf.Pos(0, 5)},
		{Value: "x.sql", Pos: conf.Pos(6, 5)},
		{Value: "*.sql", Pos: conf.Pos(12, 5)},
	}, p.readDDL, &errs)
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	// The first pattern comes first, and no file twice.
	if want := []string{"b.sql", "a.sql", "c.sql"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	want := `d.sql:2:7: the file is not UTF-8 text
    -- caf` + "\xe9" + `
          ^
  Names and values go from it into Go and SQL, which are. Save it as UTF-8; iconv
  converts a dump.

qgen.yaml:1:7: x.sql does not exist
    b.sql x.sql *.sql
          ^^^^^
  Paths in this file start from its folder. Name a file, a folder with .sql files,
  or a glob such as db/*.sql.
`
	if got := errs.Detail(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestBlankDown(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "CREATE TABLE a (x int);\n", "CREATE TABLE a (x int);\n"},
		{"goose", "-- +goose Up\nUP;\n-- +goose Down\r\nDROP é;\r\n", "-- +goose Up\nUP;\n              \r\n        \r\n"},
		{"goose again up", "--+goose down\nD;\n-- +goose up\nU;", "             \n  \n-- +goose up\nU;"},
		{"dbmate", "-- migrate:up\nU;\n-- migrate:down transaction:false\nD;\n", "-- migrate:up\nU;\n                                 \n  \n"},
		{"sql-migrate", "-- +migrate Up\nU;\n-- +migrate Down\nD;\n-- +migrate Up\nV;\n", "-- +migrate Up\nU;\n                \n  \n-- +migrate Up\nV;\n"},
		{"tern", "U;\n---- create above / drop below ----\nD;\n", "U;\n                                   \n  \n"},
		{"other words", "-- go down\n-- +goose Downward\n-- migrate:downtown\nU;\n", "-- go down\n-- +goose Downward\n-- migrate:downtown\nU;\n"},
	} {
		in := []byte(tt.in)
		if got := string(blankDown(in)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if string(in) != tt.in {
			t.Errorf("%s: the input was changed", tt.name)
		}
	}
}

// Every line and every column stays where it was.
func TestBlankDownKeepsPlaces(t *testing.T) {
	line := rapid.SampledFrom([]string{"CREATE TABLE t (ö int);", "-- +goose Down", "-- +goose Up", "", "\t-- migrate:down", "x\r"})
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOf(line).Draw(t, "lines"), "\n")
		out := string(blankDown([]byte(in)))
		if len(in) != len(out) {
			t.Fatalf("%d bytes became %d", len(in), len(out))
		}
		for i := range in {
			if in[i] != out[i] && (out[i] != ' ' || in[i] == '\n' || in[i] == '\r') {
				t.Fatalf("byte %d: %q became %q", i, in[i], out[i])
			}
		}
	})
}

// SQL Server's tools save their scripts as UTF-16.
func TestUTF16(t *testing.T) {
	const text = "CREATE TABLE t (a int) -- ä, 𝄞\n"
	for name, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
		script := order.AppendUint16(nil, 0xfeff)
		for _, unit := range utf16.Encode([]rune(text)) {
			script = order.AppendUint16(script, unit)
		}
		if got := string(fromUTF16(script)); got != text {
			t.Errorf("%s: got %q", name, got)
		}
		if got := string(fromUTF16(script[:len(script)-1])); got != text[:len(text)-1] {
			t.Errorf("%s, cut: got %q", name, got)
		}
	}
	if got := string(fromUTF16([]byte(text))); got != text {
		t.Errorf("UTF-8: got %q", got)
	}
}
