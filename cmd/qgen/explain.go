package main

// This file prints what a plan says to people. It decides nothing.

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/qgen-dev/qgen/internal/plan"
)

// explainWidth is where long texts are wrapped.
const explainWidth = 100

// explain prints one package as it was understood and planned.
func explain(w io.Writer, p *plan.Package) {
	e := &explainer{w: w}
	fmt.Fprintf(w, "queue %s: table %s of %s, for %s\n", p.Queue, p.Table, p.Source, p.Engine)
	fmt.Fprintf(w, "package %s in %s, over %s\n", p.Name, p.Out, p.Driver)

	e.head("Columns")
	var rows [][]string
	for _, c := range p.Columns {
		rows = append(rows, []string{c.Column, c.Type, c.Roles, c.Go})
	}
	e.table(rows)

	e.head("States")
	rows = nil
	for _, s := range p.States {
		rows = append(rows, []string{s.State, s.Test})
	}
	e.table(rows)

	e.head("Transitions")
	rows = nil
	for _, m := range p.Moves {
		step := m.From + " → " + m.To
		switch {
		case m.From == "":
			step = "→ " + m.To
		case m.To == "":
			step = m.From + " →"
		}
		rows = append(rows, []string{m.Transition, step, m.Writes})
	}
	e.table(rows)

	e.head("Strategy")
	e.table(strategyRows(p.Reasons))

	e.head("What holds")
	e.table([][]string{
		{"fence", p.Guarantee.String()},
		{"locks", p.Locks},
		{"crash", p.Crash},
	})

	if c := p.Coexistence; c != nil {
		e.head("Beside the old program")
		rows = nil
		for _, f := range c.Facts {
			rows = append(rows, []string{f.What, f.Text})
		}
		e.table(rows)
	}

	if len(p.Indexes) > 0 {
		e.head("Indexes")
		for _, i := range p.Indexes {
			if i.Have != "" {
				e.text(i.Have + ", which exists, " + i.Why)
				continue
			}
			of := ""
			if i.Of != "" {
				of = " (the package " + i.Of + " wants it as well)"
			}
			text := i.Name + ", wanted, " + i.Why + of
			if i.Miss != "" {
				text += "; " + i.Miss
			}
			e.text(text)
			for line := range strings.SplitSeq(strings.TrimSpace(i.DDL), "\n") {
				fmt.Fprintf(e.w, "    %s\n", line)
			}
			if i.Then != "" {
				e.text(i.Then)
			}
		}
	}
	if len(p.Notes) > 0 {
		e.head("Notes")
		for _, n := range p.Notes {
			e.text(n)
		}
	}
}

// strategyRows tells which strategy is taken, and then why the others are not: those
// with one reason together.
func strategyRows(reasons []plan.Reason) [][]string {
	var rows [][]string
	var whys []string
	names := map[string][]string{}
	for _, r := range reasons {
		switch {
		case r.Chosen:
			rows = append(rows, []string{"chosen", r.Strategy + ": " + r.Why})
		case names[r.Why] == nil:
			whys = append(whys, r.Why)
			fallthrough
		default:
			names[r.Why] = append(names[r.Why], r.Strategy)
		}
	}
	for _, why := range whys {
		rows = append(rows, []string{"passed over", strings.Join(names[why], ", ") + ": " + why})
	}
	return rows
}

// explainer lays out sections.
type explainer struct{ w io.Writer }

func (e *explainer) head(title string) { fmt.Fprintf(e.w, "\n%s\n", title) }

// text prints a paragraph, wrapped.
func (e *explainer) text(s string) {
	for i, line := range wrap(s, explainWidth-2) {
		indent := "  "
		if i > 0 {
			indent = "    "
		}
		fmt.Fprintf(e.w, "%s%s\n", indent, line)
	}
}

// table prints rows in aligned columns; the last one is wrapped below itself.
func (e *explainer) table(rows [][]string) {
	if len(rows) == 0 {
		fmt.Fprintln(e.w, "  none")
		return
	}
	widths := make([]int, len(rows[0])-1)
	for _, row := range rows {
		for i := range widths {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell(row[i])))
		}
	}
	left := 2
	for _, width := range widths {
		left += width + 2
	}
	t := tabwriter.NewWriter(e.w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		last := len(row) - 1
		lines := wrap(cell(row[last]), max(30, explainWidth-left))
		for i, line := range lines {
			fmt.Fprint(t, "  ")
			for j := range last {
				if i == 0 {
					fmt.Fprint(t, cell(row[j]))
				}
				fmt.Fprint(t, "\t")
			}
			fmt.Fprintln(t, line)
		}
	}
	_ = t.Flush() // of what is written to the terminal, as every line above
}

// cell is a text for a table; nothing is shown as a dash. A tab would be a
// column.
func cell(s string) string {
	return cmp.Or(strings.Join(strings.Fields(s), " "), "–")
}

// wrap breaks a text at spaces into lines of at most width characters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
