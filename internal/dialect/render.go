package dialect

// This file runs the templates of statements. A template is the statement,
// with holes for names and values only; arguments are marked while it runs and
// numbered afterwards, in the order in which they stand in the text, so that
// the same template serves placeholders by name and by position.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// lineWidth is where lists of names are broken.
const lineWidth = 90

// functions are what templates may call.
var functions = template.FuncMap{
	// list joins lines with commas, each further line indented by n.
	"list": func(n int, items []string) string {
		return strings.Join(items, ",\n"+strings.Repeat(" ", n))
	},
	// both joins conditions with AND, each further line indented by n.
	"both": func(n int, items []string) string {
		return strings.Join(items, "\n"+strings.Repeat(" ", n)+"AND    ")
	},
	// joined joins the conditions of a join with AND, each further line indented by n.
	"joined": func(n int, items []string) string {
		return strings.Join(items, "\n"+strings.Repeat(" ", n)+"AND ")
	},
	// ranged writes the order of columns out, rising where they do not say it.
	"ranged": func(columns []string) []string {
		texts := slices.Clone(columns)
		for i, c := range texts {
			if !strings.HasSuffix(c, " DESC") && !strings.Contains(c, " NULLS ") && !strings.Contains(c, " DESC ") {
				texts[i] = c + " ASC"
			}
		}
		return texts
	},
	// concat appends lists.
	"concat": func(lists ...[]string) []string { return slices.Concat(lists...) },
	// cols joins names on one line.
	"cols": func(items []string) string { return strings.Join(items, ", ") },
	// tuples writes rows as they stand behind VALUES.
	"tuples": func(rows [][]string) []string {
		texts := make([]string, len(rows))
		for i, row := range rows {
			texts[i] = "(" + strings.Join(row, ", ") + ")"
		}
		return texts
	},
	// firsts cuts rows to their first n cells.
	"firsts": func(n int, rows [][]string) [][]string {
		short := make([][]string, len(rows))
		for i, row := range rows {
			short[i] = row[:n]
		}
		return short
	},
	// selects writes rows as queries that UNION ALL joins; names are those of the
	// columns, from is what has to stand behind them.
	"selects": func(n int, from string, rows [][]string, names ...string) string {
		texts := make([]string, len(rows))
		for i, row := range rows {
			cells := slices.Clone(row)
			for k := range cells {
				if i == 0 {
					cells[k] += " AS " + names[k]
				}
			}
			texts[i] = "SELECT " + strings.Join(cells, ", ") + from
		}
		return strings.Join(texts, " UNION ALL\n"+strings.Repeat(" ", n))
	},
	// tuple is one name, or several in parentheses.
	"tuple": func(items []string) string {
		if len(items) == 1 {
			return items[0]
		}
		return "(" + strings.Join(items, ", ") + ")"
	},
	// wrap joins names with commas, breaking lines that grow too long; further
	// lines are indented by n.
	"wrap": func(n int, items []string) string {
		var b strings.Builder
		width := n
		for i, item := range items {
			switch {
			case i == 0:
			case width+len(item) > lineWidth:
				b.WriteString(",\n" + strings.Repeat(" ", n))
				width = n
			default:
				b.WriteString(", ")
			}
			b.WriteString(item)
			width += len(item) + 2
		}
		return b.String()
	},
}

// The marks around the number of an argument in an unfinished text. They
// cannot occur in a name: no server stores a NUL or these control characters.
const argOpen, argText, argEnd = "\x01", "\x03", "\x02"

// Mark returns the mark of argument i for use in a template's values.
func Mark(i int) string { return argOpen + strconv.Itoa(i) + argEnd }

// MarkText is Mark for an argument that is written as text instead of a
// placeholder: it holds placeholders of its own.
func MarkText(i int, text string) string {
	return argOpen + strconv.Itoa(i) + argText + text + argEnd
}

// Has reports whether the dialect has a template of that name.
func (d *Dialect) Has(name string) bool {
	return d.templates.Lookup(name+".sql.tmpl") != nil
}

// Render runs a template over values and returns the statement and, in bind
// order, the numbers of the arguments that were marked in it.
func (d *Dialect) Render(name string, values any) (sql string, args []int, err error) {
	return d.RenderNamed(name, values, func(_, n int) string { return Fill(d.Placeholder, "n", strconv.Itoa(n)) })
}

// RenderNamed is Render with placeholders by another name; it gets the number of
// the argument as it was marked, and its place in bind order, from 1.
func (d *Dialect) RenderNamed(name string, values any, placeholder func(arg, n int) string) (sql string, args []int, err error) {
	t := d.templates.Lookup(name + ".sql.tmpl")
	if t == nil {
		return "", nil, fmt.Errorf("templates/%s has no %s.sql.tmpl", d.Name, name)
	}
	var b strings.Builder
	if err := t.Execute(&b, values); err != nil {
		return "", nil, err
	}
	return d.number(strings.TrimSpace(b.String()), placeholder)
}

// number replaces the marks by placeholders.
func (d *Dialect) number(text string, placeholder func(arg, n int) string) (string, []int, error) {
	var out strings.Builder
	var args, lists []int
	numbers := map[int]int{}
	numbered := strings.Contains(d.Placeholder, "{n}")
	repeats := numbered && strings.HasPrefix(text, d.Repeats)
	for {
		before, rest, ok := strings.Cut(text, argOpen)
		out.WriteString(before)
		if !ok {
			return out.String(), append(args, lists...), nil
		}
		mark, after, ok := strings.Cut(rest, argEnd)
		digits, own, isText := strings.Cut(mark, argText)
		i, err := strconv.Atoi(digits)
		if !ok || err != nil {
			return "", nil, fmt.Errorf("a name holds a control character")
		}
		// A placeholder without a number counts by position and cannot repeat; nor can a list,
		// which is written out wherever it stands, with names of its own.
		switch _, seen := numbers[i]; {
		case numbered && isText && d.ListPlaceholder == "":
			lists = append(lists, i) // their values are numbered behind all others
		case !seen || !repeats || isText:
			args = append(args, i)
			numbers[i] = len(args)
		}
		if isText {
			out.WriteString(own)
		} else {
			out.WriteString(placeholder(i, numbers[i]))
		}
		text = after
	}
}
