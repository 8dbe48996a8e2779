package emit

// This file writes what is not Go: one file a statement, and the index advice.

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/qgen-dev/qgen/internal/plan"
)

// sqlFile is the file of a statement: the head comment, and what is sent.
func (w *writer) sqlFile(s *plan.Statement) []byte {
	var b bytes.Buffer
	b.WriteString("-- " + w.mark + "\n")
	writeComment(&b, s.Head...)
	b.WriteString(strings.TrimSpace(s.SQL) + "\n")
	return b.Bytes()
}

// indexFile is the index advice.
func (w *writer) indexFile() []byte {
	var b bytes.Buffer
	b.WriteString("-- " + w.mark + "\n")
	writeComment(&b, "Index advice; nothing runs these statements by itself.")
	writeComment(&b, w.fillIn()...)
	for _, i := range w.Indexes {
		b.WriteString("\n")
		writeComment(&b, i.Why)
		if i.Have != "" {
			writeComment(&b, "The index "+oneLine(i.Have)+" of the schema serves as well.")
			continue
		}
		b.WriteString(strings.TrimSuffix(strings.TrimSpace(i.DDL), ";") + ";\n")
		if i.Then != "" {
			writeComment(&b, i.Then)
		}
	}
	return b.Bytes()
}

// leaseFile creates the side table that holds the claims.
func (w *writer) leaseFile(t *plan.LeaseTable) []byte {
	var b bytes.Buffer
	b.WriteString("-- " + w.mark + "\n")
	writeComment(&b, t.Head...)
	for _, ddl := range t.DDL {
		b.WriteString("\n" + strings.TrimSpace(ddl) + ";\n")
	}
	return b.Bytes()
}

// procedureFile creates the procedures that the package calls, nil when it calls
// none.
func (w *writer) procedureFile() []byte {
	var b bytes.Buffer
	for _, s := range w.Statements() {
		if s.Procedure == nil {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("-- " + w.mark + "\n")
			writeComment(&b, "The procedures that the package calls. Run this before a program with the package, as often as you like.")
			writeComment(&b, w.fillIn()...)
		}
		b.WriteString("\n")
		writeComment(&b, s.Head...)
		b.WriteString(strings.TrimSpace(s.Procedure.DDL) + "\n" + cmp.Or(s.Procedure.End, ";") + "\n")
	}
	return b.Bytes()
}

// fillIn says in the head of a file of DDL that it is a template.
func (w *writer) fillIn() []string {
	if w.Tables == nil {
		return nil
	}
	var marks []string
	for _, p := range w.Tables.Parts {
		marks = append(marks, p.Mark())
	}
	return []string{"A template: for each table write what its name has in the place of " + strings.Join(marks, ", ") + "."}
}

// writeComment writes lines behind the mark of a SQL comment.
func writeComment(b *bytes.Buffer, lines ...string) {
	for _, text := range lines {
		// A carriage return ends a comment in some databases.
		for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r", "\n"), "\n") {
			b.WriteString(strings.TrimRight("-- "+line, " ") + "\n")
		}
	}
}
