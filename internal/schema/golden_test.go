package schema

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qgen-dev/qgen/internal/source"
)

// detail says how much of a catalog is written down.
type detail int

const (
	facts       detail = iota // what a database keeps
	expressions               // and its expressions as written
	everything                // and types as written, and all places
)

// printer writes a catalog down as text.
type printer struct {
	strings.Builder
	detail detail
}

func (p *printer) expression(text string) string {
	if p.detail < expressions && text != "" {
		return "…"
	}
	return text
}

func (p *printer) at(pos source.Pos) string {
	if p.detail < everything {
		return ""
	}
	text := pos.Text()
	if pos.IsValid() {
		text = fmt.Sprintf("%d:%d %q", pos.Line(), pos.Column(), text)
	}
	return " @" + text
}

func (p *printer) line(indent int, format string, args ...any) {
	_, _ = fmt.Fprintf(p, "%s%s\n", strings.Repeat("  ", indent), fmt.Sprintf(format, args...))
}

func (p *printer) comments(indent int, comments []Comment) {
	for _, c := range comments {
		flags := ""
		if !c.Exact {
			flags += " inexact"
		}
		if c.AboveFirst {
			flags += " above-first"
		}
		at := ""
		if p.detail == everything {
			at = fmt.Sprintf(" @%d:%d+%d", c.Pos.Line(), c.Pos.Column(), c.Pos.Len)
		}
		p.line(indent, "comment %q%s%s", c.Text, flags, at)
	}
}

func columnNames(columns []*Column) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

func (p *printer) column(c *Column) {
	t := c.Type
	words := []string{string(t.Class)}
	add := func(on bool, format string, args ...any) {
		if on {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	add(t.Name != "", "name=%q", t.Name)
	add(p.detail == everything && t.Raw != "", "raw=%q", t.Raw)
	add(t.Schema != "", "schema=%s", t.Schema)
	add(t.Domain != "", "domain=%s", t.Domain)
	add(t.Enum, "enum")
	add(t.Bits > 0, "bits=%d", t.Bits)
	add(t.Unsigned, "unsigned")
	add(t.Digits > 0, "digits=%d", t.Digits)
	add(t.Scale > 0, "scale=%d", t.Scale)
	add(t.Scale == AnyScale, "scale=any")
	add(t.Length > 0, "length=%d", t.Length)
	add(t.Chars, "chars")
	add(c.Longest > 0, "longest=%d", c.Longest)
	if p.detail == everything && c.Least != nil {
		add(true, "least=%d", *c.Least)
	}
	if p.detail == everything && c.Greatest != nil {
		add(true, "greatest=%d", *c.Greatest)
	}
	add(t.Zone, "zone")
	add(t.Step != 0 && t.Step != time.Microsecond, "step=%v", t.Step)
	add(t.Array, "array")
	add(c.NotNull, "not-null")
	add(c.HasDefault, "default=%q", p.expression(c.Default))
	add(c.Identity, "identity")
	add(c.Always, "always")
	add(c.Generated, "generated")
	add(c.OnUpdate, "on-update")
	add(c.MayUpdate, "may-update")
	add(c.Invisible, "invisible")
	add(c.Values != nil, "values=%q", c.Values)
	p.line(1, "column %s%s: %s", c.Name, p.at(c.Pos), strings.Join(words, " "))
	if p.detail == everything {
		for _, k := range c.Checks {
			p.line(2, "check %s", k)
		}
	}
	p.comments(2, c.Comments)
}

func (p *printer) table(t *Table) {
	words := ""
	add := func(on bool, word string) {
		if on {
			words += " " + word
		}
	}
	add(t.View, "view")
	add(t.Partitioned, "partitioned("+strings.Join(t.PartitionBy, ", ")+")")
	add(t.PartitionOf != "", "partition-of="+t.PartitionOf)
	add(t.Inherited, "inherited")
	add(t.NoRowIdentity, "no-row-identity")
	add(t.AnyCase, "any-case")
	add(t.Engine != "", "engine="+t.Engine)
	add(t.NoRowLocks != "", fmt.Sprintf("no-row-locks=%q", t.NoRowLocks))
	p.line(0, "table %s%s%s", t.QualifiedName(), p.at(t.Pos), words)
	p.comments(1, t.Comments)
	for _, c := range t.Columns {
		p.column(c)
	}
	if k := t.PrimaryKey; k != nil {
		p.line(1, "primary key %s (%s)%s", k.Name, columnNames(k.Columns), p.at(k.Pos))
	}
	for _, k := range t.Uniques {
		p.line(1, "unique %s (%s)%s", k.Name, columnNames(k.Columns), p.at(k.Pos))
	}
	for _, ix := range t.Indexes {
		var columns []string
		for _, c := range ix.Columns {
			name := "(" + p.expression(c.Expr) + ")"
			if c.Column != nil {
				name = c.Column.Name
			}
			if c.Length > 0 {
				name += fmt.Sprintf("(%d)", c.Length)
			}
			if c.Desc {
				name += " desc"
			}
			if c.NullsFirst {
				name += " nulls first"
			}
			columns = append(columns, name)
		}
		words := ""
		if ix.Unique {
			words += " unique"
		}
		if ix.Invisible {
			words += " invisible"
		}
		if ix.Implicit {
			words += " implicit"
		}
		if ix.Clustered {
			words += " clustered"
		}
		if len(ix.Include) > 0 {
			var beside []string
			for _, c := range ix.Include {
				beside = append(beside, c.Name)
			}
			words += " include (" + strings.Join(beside, ", ") + ")"
		}
		if ix.Where != "" {
			words += " where " + p.expression(ix.Where)
		}
		p.line(1, "index %s %s (%s)%s%s", ix.Name, ix.Method, strings.Join(columns, ", "), words, p.at(ix.Pos))
	}
	for _, k := range t.Checks {
		p.line(1, "check %s", p.expression(k))
	}
	for _, g := range t.Triggers {
		words := ""
		if g.Events != nil {
			words = " on " + strings.Join(g.Events, ", ")
		}
		if g.Instead {
			words += " instead"
		}
		if g.Disabled {
			words += " disabled"
		}
		p.line(1, "trigger %s%s%s", g.Name, words, p.at(g.Pos))
	}
	for _, g := range t.Gaps {
		p.line(1, "gap %s", g.Detail())
	}
}

// dump writes a catalog down.
func dump(c *Catalog, d detail) string {
	p := &printer{detail: d}
	for _, t := range c.Tables {
		p.table(t)
	}
	if len(c.Loose) > 0 {
		p.line(0, "loose")
		p.comments(1, c.Loose)
	}
	for _, u := range c.Unread {
		p.line(0, "unread %s: %s", u.Table, u.Err)
	}
	return p.String()
}

// readFiles reads a script as one file, or as the files that lines of the form
// "-- FILE name" start.
func readFiles(t testing.TB, path string) []*source.File {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const fileMark = "-- FILE "
	if !bytes.HasPrefix(data, []byte(fileMark)) {
		return []*source.File{source.NewFile(filepath.Base(path), data)}
	}
	var files []*source.File
	for _, part := range strings.Split("\n"+string(data), "\n"+fileMark)[1:] {
		name, text, _ := strings.Cut(part, "\n")
		files = append(files, source.NewFile(name, []byte(text+"\n")))
	}
	return files
}

// Every script in testdata is read and compared with the golden file beside it:
// the catalog with its places, then the complaints.
func TestGolden(t *testing.T) {
	for _, grammar := range Grammars() {
		paths, err := filepath.Glob(filepath.Join("testdata", grammar, "*.sql"))
		if err != nil || len(paths) == 0 {
			t.Errorf("no scripts for %s: %v", grammar, err)
		}
		for _, path := range paths {
			t.Run(grammar+"/"+strings.TrimSuffix(filepath.Base(path), ".sql"), func(t *testing.T) {
				var errs source.ErrorList
				catalog, err := Read(grammar, readFiles(t, path), &errs)
				if err != nil {
					t.Fatal(err)
				}
				got := dump(catalog, everything)
				if errs.Len() > 0 {
					got += "\n" + errs.Detail()
				}
				compareGolden(t, strings.TrimSuffix(path, ".sql")+".golden", got)
				checkPlaces(t, catalog, &errs)
			})
		}
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", path, got)
	}
}

// checkPlaces checks that everything in the catalog stands where it says.
func checkPlaces(t testing.TB, c *Catalog, errs *source.ErrorList) {
	t.Helper()
	inside := func(what string, pos source.Pos) {
		t.Helper()
		if !pos.IsValid() || pos.Offset < 0 || pos.Len < 0 || pos.Offset+pos.Len > len(pos.File.Data) {
			t.Errorf("%s stands outside its file: %+v", what, pos)
		}
	}
	comments := func(list []Comment) {
		t.Helper()
		for _, c := range list {
			inside("comment "+c.Text, c.Pos)
			if c.Exact && c.Pos.Text() != c.Text {
				t.Errorf("comment %q stands at %q", c.Text, c.Pos.Text())
			}
		}
	}
	for _, table := range c.Tables {
		inside("table "+table.Name, table.Pos)
		if !writes(table.Pos, table.Name) {
			t.Errorf("table %q stands at %q", table.Name, table.Pos.Text())
		}
		comments(table.Comments)
		for _, col := range table.Columns {
			inside("column "+col.Name, col.Pos)
			if !writes(col.Pos, col.Name) {
				t.Errorf("column %q stands at %q", col.Name, col.Pos.Text())
			}
			if col.Type.Class == "" {
				t.Errorf("column %s.%s has no class", table.Name, col.Name)
			}
			comments(col.Comments)
		}
		for _, k := range append(slices.Clone(table.Uniques), table.PrimaryKey) {
			if k != nil {
				inside("key "+k.Name, k.Pos)
				if len(k.Columns) == 0 || slices.ContainsFunc(k.Columns, func(c *Column) bool { return !slices.Contains(table.Columns, c) }) {
					t.Errorf("key %s of %s has columns that are not the table's", k.Name, table.Name)
				}
			}
		}
		for _, ix := range table.Indexes {
			inside("index "+ix.Name, ix.Pos)
			for _, c := range ix.Columns {
				if c.Column != nil && !slices.Contains(table.Columns, c.Column) {
					t.Errorf("index %s of %s has the column %s, which is not the table's", ix.Name, table.Name, c.Column.Name)
				}
			}
		}
		for _, g := range table.Triggers {
			inside("trigger "+g.Name, g.Pos)
		}
		for _, g := range table.Gaps {
			inside(g.Msg, g.Pos)
		}
	}
	comments(c.Loose)
	for _, u := range c.Unread {
		inside(u.Err.Msg, u.Err.Pos)
	}
	for _, e := range errs.All() {
		inside(e.Msg, e.Pos)
	}
}

// writes reports whether the text at pos is name, as far as one can tell: names
// may be folded, cut, or written with escapes.
func writes(pos source.Pos, name string) bool {
	text := pos.Text()
	if strings.HasPrefix(strings.ToUpper(text), `U&"`) {
		return true
	}
	text = unquote(text)
	if len(text) > len(name) && len(name) > maxName-4 {
		text = text[:len(name)]
	}
	return strings.EqualFold(text, name)
}
